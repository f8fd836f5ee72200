# A day's commands that the other scripts lack: cascades, rollouts of sets, subresources, output formats, pods without a node.

kubectl create deployment web --image=nginx:1 --replicas=2; kubectl wait deployment web --for=jsonpath='{.status.updatedReplicas}'=2 --timeout=20s

kubectl get deployment web -o wide --show-labels; kubectl get deployment web -L app,nosuch --no-headers

kubectl get deployment web -o go-template='{{.metadata.name}} {{.spec.replicas}}{{"\n"}}'; kubectl get deployment web -o jsonpath='{range .spec.template.spec.containers[*]}{.name}={.image}{"\n"}{end}'

kubectl get deployments,services -o name --chunk-size=1; kubectl get deployment web -o jsonpath-as-json='{.spec.selector}'

kubectl get pods -l app=web --sort-by=.metadata.name -o custom-columns=IMAGE:.spec.containers[0].image,NONE:.spec.nosuch,LABEL:.metadata.labels.app

kubectl get pods --field-selector=status.phase=Pending,spec.nodeName= -o custom-columns=PHASE:.status.phase --no-headers

kubectl get pods --field-selector=spec.nosuch=a; kubectl get pods -l 'app in (web,,)'; kubectl get pods -o nosuch; kubectl get pods -o jsonpath='{.items[0'

kubectl get deployment web --subresource=scale; kubectl get deployment web --subresource=status -o jsonpath='{.status.observedGeneration}{"\n"}'; kubectl get deployment web --subresource=nosuch

kubectl patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":1}}'; kubectl get deployment web -o jsonpath='{.spec.replicas}{"\n"}'

kubectl patch deployment web --subresource=status --type=merge -p '{"status":{"replicas":-1}}'; kubectl patch deployment web --type=json -p '[{"op":"test","path":"/spec/replicas","value":9}]'; kubectl patch deployment web -p '{"spec":{"replicas":"x"}}'

kubectl patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","env":[{"name":"A","value":"1"}]}]}}}}' --dry-run=server -o jsonpath='{.spec.template.spec.containers[0].env}{"\n"}'

kubectl scale deployment web --replicas=3 --current-replicas=9; kubectl scale deployment web --replicas=3 --current-replicas=1; kubectl scale deployment nosuch --replicas=1; kubectl scale --replicas=2 -l app=web deployment

kubectl set image deployment/web '*=nginx:3' --record=false; kubectl set image deployment/web nosuch=x; kubectl set env deployment/web A=1 B=2; kubectl set env deployment/web --list; kubectl set env deployment/web A-; kubectl set env deployment/web --from=configmap/nosuch

kubectl set resources deployment web --limits=cpu=1,memory=1Gi --requests=cpu=100m; kubectl set resources deployment web --limits=cpu=1 --requests=cpu=2

kubectl rollout history deployment web --revision=1; kubectl rollout history deployment web --revision=9; kubectl rollout undo deployment web --to-revision=9; kubectl rollout status deployment web --watch=false; kubectl rollout restart deployment -l app=web

kubectl label deployment web tier=front; kubectl label deployment web tier=back; kubectl label deployment web tier=back --overwrite; kubectl label deployment web tier-; kubectl label deployment web nosuch-; kubectl label deployment web 'bad key=1'; kubectl label deployment web --list

kubectl annotate deployment web note=a; kubectl annotate deployment web note=b; kubectl annotate deployment web note=b --overwrite --resource-version=1; kubectl annotate deployment web note-; kubectl annotate deployment web --list | grep -v revision

kubectl expose deployment web --port=80 --target-port=8080 --name=web --type=NodePort; kubectl expose deployment web --port=80 --name=web; kubectl expose deployment web; kubectl expose service web --port=81 --name=second

kubectl get service web second -o wide; kubectl describe service second

kubectl autoscale deployment web --max=3 --min=1 --cpu=50%; kubectl autoscale deployment web --max=3; kubectl get hpa web; kubectl autoscale deployment web --max=0 --name=bad

kubectl delete deployment web --cascade=orphan; kubectl get rs -l app=web -o jsonpath='{.items[0].metadata.ownerReferences}{"\n"}'; kubectl delete rs -l app=web --cascade=foreground --timeout=20s | sed 's/web-[^"]*/web-HASH/'

kubectl create deployment fore --image=nginx; kubectl wait deployment fore --for=jsonpath='{.status.replicas}'=1 --timeout=20s; kubectl delete deployment fore --cascade=foreground --timeout=20s; kubectl get deployment,rs -l app=fore

kubectl create job once --image=busybox -- true; kubectl create job once --image=busybox; kubectl create job other --from=cronjob/nosuch; kubectl create cronjob daily --image=busybox --schedule='@daily'; kubectl create job again --from=cronjob/daily

kubectl get jobs,cronjobs; kubectl wait job once --for=condition=complete --timeout=1s; kubectl delete job once again; kubectl delete cronjob daily --now

printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep, labels: {set: a}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: prune, labels: {set: a}}\n' > two.yaml; kubectl apply -f two.yaml; head -3 two.yaml > one.yaml; kubectl apply -f one.yaml --prune -l set=a; kubectl get cm -l set=a -o name

kubectl apply -f one.yaml --server-side; kubectl apply -f one.yaml --server-side --field-manager=other; sed 's/set: a/set: b/' one.yaml | kubectl apply --server-side --field-manager=other -f -; sed 's/set: a/set: b/' one.yaml | kubectl apply --server-side --field-manager=other --force-conflicts -f -

kubectl get cm keep --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.manager} {.operation} {.fieldsV1}{"\n"}{end}'

sed 's/set: a/set: c/' one.yaml | kubectl diff -f - | grep '^[+-] '; kubectl diff -f one.yaml --server-side --force-conflicts | grep '^[+-] '; kubectl diff -f nosuch.yaml

kubectl replace -f one.yaml; sed 's/name: keep/name: nosuch/' one.yaml | kubectl replace -f -; kubectl replace --force -f one.yaml; kubectl delete -f two.yaml --ignore-not-found; kubectl delete -f two.yaml

kubectl run alone --image=nginx --port=80 --expose --labels=run=alone,x=y --env=A=B; kubectl run alone --image=nginx; kubectl run bad --image=nginx --restart=Sometimes; kubectl run dry --image=nginx --dry-run=client -o yaml; kubectl run dry --image=nginx --dry-run=server -o name

kubectl logs alone; kubectl logs nosuch; kubectl logs alone -c nosuch; kubectl logs -l run=alone --tail=3; kubectl logs alone --since=1h --timestamps --previous

kubectl exec alone -- ls; kubectl exec nosuch -- ls; kubectl exec alone -c nosuch -- ls; kubectl attach alone; kubectl port-forward alone 8080:80; kubectl cp nosuch:/a x; kubectl cp alone:/a x 2>&1 | head -2

kubectl debug alone --image=busybox -c dbg --target=alone; kubectl get pod alone -o jsonpath='{.spec.ephemeralContainers[*].name}{"\n"}'; kubectl debug alone --image=busybox -c dbg; kubectl debug alone --image=busybox --copy-to=copy --share-processes; kubectl debug nosuch --image=x

kubectl describe pod alone | grep -v '^  *kube-api-access\|ConfigMapName\|default-token'; kubectl delete pod alone copy --grace-period=0 --force; kubectl delete service alone

kubectl top pods; kubectl top nodes; kubectl plugin; kubectl nosuch; kubectl get; kubectl get deployment/a pod; kubectl api-resources --nosuch

kubectl auth can-i --list | grep -v '\[/\|selfsubject' | head -5; kubectl auth can-i create pods; kubectl auth can-i create pods --as=nobody; kubectl auth can-i get /metrics --as=nobody; kubectl auth can-i get pods/log --subresource=log --as=nobody; kubectl auth can-i nosuch pods; kubectl auth can-i get nosuch; kubectl auth whoami -o jsonpath='{.status.userInfo.groups}{"\n"}' --as=a --as-group=b

kubectl create role reader --verb=get,list --resource=pods,pods/log; kubectl create rolebinding reader --role=reader --user=jane; kubectl auth can-i list pods --as=jane; kubectl auth can-i delete pods --as=jane; kubectl auth can-i --list --as=jane | grep pods; kubectl get pods --as=jane; kubectl get secrets --as=jane; kubectl delete pods --all --as=jane

kubectl create secret generic s --from-literal=a=b; kubectl create secret tls t --cert=nosuch --key=nosuch; kubectl create secret docker-registry d --docker-username=a --docker-password=b; kubectl get secret s d; kubectl describe secret d; kubectl create configmap c --from-file=two.yaml --from-literal=x=1; kubectl describe configmap c

kubectl create token default --duration=10s; kubectl create token nosuch; kubectl create token default --bound-object-kind=Pod --bound-object-name=nosuch; kubectl create serviceaccount robot; kubectl create token robot --audience=a > /dev/null && echo made

kubectl create quota q --hard=pods=1,secrets=9; kubectl wait quota q --for=jsonpath='{.status.hard.pods}'=1 --timeout=20s; kubectl run one --image=nginx; kubectl run two --image=nginx; kubectl describe quota q; kubectl delete quota q; kubectl delete pod one --now

kubectl wait --for=delete pod/nosuch --timeout=1s; kubectl wait --for=condition=Ready pod/nosuch --timeout=1s; kubectl wait --for=create cm/nosuch --timeout=1s; kubectl wait cm/c --for=jsonpath='{.data.x}'=1; kubectl wait cm/c --for=jsonpath='{.data.x}'=2 --timeout=1s 2>&1 | grep -v reflector; kubectl wait cm/c --for=nosuch

kubectl get events --field-selector=reason=SuccessfulCreate,involvedObject.kind=Job -o custom-columns=REASON:.reason,KIND:.involvedObject.kind --no-headers | sort -u; kubectl events --types=Warning,Normal --for=job/once --no-headers | awk '{print $2, $3}' | sort -u

kubectl create ingress i --rule='a.b/x*=web:80,tls=t' --class=c; kubectl describe ingress i; kubectl create ingress bad --rule='a b/x=web:80'; kubectl create pdb p --selector=a=b --min-available=1; kubectl create pdb bad --selector=a=b --min-available=1 --max-unavailable=1; kubectl get pdb p; kubectl describe pdb p | grep -v Events

kubectl create service clusterip cip --tcp=80:8080; kubectl create service externalname ext --external-name=a.b; kubectl create service loadbalancer lb --tcp=80 --dry-run=server; kubectl get svc ext -o wide; kubectl set selector service cip a=b; kubectl get service cip -o jsonpath='{.spec.selector}{"\n"}'

kubectl create -f - <<< '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"l1"}},{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"L_"}}]}'; kubectl create -f - <<< '{"kind":"ConfigMap"}'; kubectl create -f - <<< 'a: ['; kubectl create -f - <<< '{"apiVersion":"nosuch/v1","kind":"X","metadata":{"name":"a"}}'; kubectl apply -f - --validate=strict <<< '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"z"},"dta":{}}'

kubectl delete all --all --timeout=30s 2>&1 | sed 's/web-[^"]*/web-HASH/' | sort; kubectl delete cm --all --dry-run=server | sort; kubectl delete nosuch x; kubectl delete cm; kubectl delete cm nosuch --ignore-not-found
