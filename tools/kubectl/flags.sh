# Flags and forms that the other scripts lack: printing, deleting, files, pods, logs, contexts, patches, lists, claims.

kubectl apply -f files/web.yaml; kubectl get deployment,service,configmap --server-print=false; kubectl get deployment web --server-print=false -o wide; kubectl get pods,deployments -l app=web --show-kind --no-headers | awk '{print $1}' | sed 's/web-.*/web/' | sort

EDITOR="sed -i s/replicas:\ 2/replicas:\ 3/" kubectl apply edit-last-applied deployment/web; kubectl apply view-last-applied deployment web -o json | head -5; kubectl apply set-last-applied -f files/web.yaml --create-annotation=true --dry-run=server; kubectl apply edit-last-applied configmap/nosuch

sed 's/replicas: 2/replicas: 4/' files/web.yaml > w.yaml; kubectl diff -f w.yaml --prune -l app=web --prune-allowlist=apps/v1/Deployment 2>&1 | grep '^[-+] '; kubectl diff --server-side --field-manager=x -f w.yaml | grep '^[-+] '; kubectl diff -f - <<< '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"B_"}}'

kubectl get deployment web -o json | kubectl replace --subresource=status -f -; kubectl get deployment web --subresource=scale -o json | sed 's/"replicas": 2,/"replicas": 5,/' | kubectl replace --subresource=scale -f - ; kubectl get deployment web -o jsonpath='{.spec.replicas}{"\n"}'; kubectl apply --server-side --subresource=status -f - <<< '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"status":{"observedGeneration":5}}'

kubectl rollout history deployment/web -o yaml | sed '/creationTimestamp\|uid\|resourceVersion\|time:\|hash/d' | head -60; kubectl rollout status deployment/web --revision=9 --timeout=1s; kubectl rollout restart deployment/web --dry-run=server; kubectl rollout pause deployment/web -o jsonpath='{.spec.paused}{"\n"}'; kubectl rollout undo deployment/web; kubectl rollout resume deployment/web

echo y | kubectl delete configmap settings --interactive; echo n | kubectl delete service web --interactive; kubectl delete service web --cascade=nosuch; kubectl delete service web --dry-run=client -o name; kubectl delete service web --wait=false --now; kubectl delete -f files/web.yaml --ignore-not-found --cascade=background --timeout=10s

kubectl create configmap env --from-env-file=<(printf 'A=1\n#c\nB=two words\n'); kubectl create configmap env2 --from-env-file=<(printf '1A=1\n'); kubectl create secret generic f --from-file=ssh-key=files/web.yaml --from-literal=x=; kubectl create configmap app --from-literal=a=1 --append-hash; kubectl get cm env -o jsonpath='{.data}{"\n"}'; kubectl create secret docker-registry r --from-file=.dockerconfigjson=<(echo '{"auths":{}}'); kubectl create secret docker-registry r2 --from-file=.dockerconfigjson=<(echo '[')

kubectl create ingress multi --class=default --rule="foo.com/path*=svc:8080" --rule="bar.com/admin*=svcadmin:http" --annotation a.b/c=d; kubectl create ingress tls --rule="foo.com/=svc:https,tls" --rule="foo.com/*=o:8080" --default-backend=defaultsvc:http; kubectl get ingress -o wide; kubectl get ingress tls -o jsonpath='{.spec}{"\n"}'; kubectl create ingress none; kubectl create ingress bad --rule="foo.com/path*=svc"

kubectl create deployment multi --image=busybox:latest --image=ubuntu:latest --port=5701; kubectl create deployment cmd --image=a -- sh -c 'x y'; kubectl create deployment 'Bad' --image=a; kubectl create deployment r --image=a --replicas=-1; kubectl get deployment -o custom-columns=N:.metadata.name,C:.spec.template.spec.containers[*].name,A:.spec.template.spec.containers[*].command

kubectl create priorityclass flags-default --value=1000 --global-default=true --preemption-policy=Never; kubectl create priorityclass flags-second --value=1 --global-default=true; kubectl get pc flags-default; kubectl delete pc flags-default flags-second --ignore-not-found; kubectl create quota qq --hard=cpu=x; kubectl create quota qq --hard=pods=1,count/nosuch.example.com=3 --scopes=NotTerminating,Nosuch

kubectl run -i --rm quick --image=busybox --restart=Never --pod-running-timeout=1s -- true; kubectl get pods quick; kubectl run env --image=a --env=BAD; kubectl run lab --image=a --labels='a=b,c'; kubectl run srv --image=a --dry-run=server --privileged -o jsonpath='{.spec.containers[0].securityContext}{"\n"}'; kubectl run p --image=a --image-pull-policy=Never --command -- x y; kubectl run p2 --image=a --restart=Never --service-account=x --overrides='{"spec":{"serviceAccountName":"nosuch"}}'; kubectl get pod p -o jsonpath='{.spec.containers[0]}{"\n"}' | sed 's/kube-api-access-[a-z0-9]*/X/'

kubectl logs p --all-containers; kubectl logs deployment/multi --all-pods=true 2>&1 | sed 's/multi-[^" ]*/M/g'; kubectl logs p -f --tail=1 --since-time=2024-08-30T06:00:00Z; kubectl logs p --since=1h --since-time=2024-08-30T06:00:00Z; kubectl logs p --limit-bytes=-1; kubectl logs job/nosuch; kubectl logs -l nosuch=x; kubectl exec p -- date; kubectl exec deploy/cmd -- date 2>&1 | sed 's/cmd-[^" ]*/C/g'; kubectl attach p; kubectl port-forward service/nosuch 1:2; kubectl port-forward p :5000; kubectl cp p:/x y

kubectl top pod --sort-by=cpu; kubectl top pod p --containers; kubectl top node nosuch; kubectl cluster-info dump --namespaces=flags -o yaml 2>&1 | grep '^kind' | sort | uniq -c; kubectl cluster-info --context=nosuch; kubectl options | head -2; kubectl version -o yaml | grep -A2 'serverVersion' | head -1

kubectl config set-context other --namespace=zz --cluster=x; kubectl --context=other get pods; kubectl config rename-context other o2; kubectl config delete-context o2; kubectl get pods --server=https://127.0.0.1:1 2>&1 | tail -1; kubectl get pods --as=system:anonymous; kubectl get pods --as=x --as-uid=1 --as-user-extra=a=b

kubectl get events -o wide --sort-by=.lastTimestamp --no-headers | awk '{print $2,$3}' | sort -u; kubectl events --for pod/p -o yaml | grep -c reason:; kubectl get events --watch --request-timeout=1s -o name | head -1 | sed 's/\/.*//'; kubectl get ev -o custom-columns=S:.source.component,R:.reportingComponent --no-headers | sort -u

kubectl wait --for=condition=Available=false deployment/cmd --timeout=5s; kubectl wait --for=condition=ready pod -l app=cmd --timeout=1s 2>&1 | sed 's/cmd-[^ ]*/C/'; kubectl wait --for='jsonpath={.status.conditions[?(@.type=="Available")].status}=False' deployment/cmd --timeout=5s; kubectl wait --for=jsonpath='{.status' deployment/cmd; kubectl wait --for=nosuch=x deployment/cmd; kubectl wait deployment --all --for=create --timeout=1s; kubectl wait --for=delete deployment -l nosuch=x --timeout=1s; kubectl wait --for=condition=Available

kubectl patch deployment cmd --type=strategic -p '{"spec":{"template":{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}}}'; kubectl patch deployment cmd -p '{"spec":{"template":{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"a","volumeMounts":[{"name":"v","mountPath":"/v"}]}]}}}}'; kubectl patch deployment cmd -p '{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b","image":"b"}]}}}}'; kubectl get deployment cmd -o jsonpath='{.spec.template.spec.containers[*].name}{"\n"}'; kubectl patch deployment cmd -p '{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}'; kubectl patch deployment cmd --patch-file=<(echo 'spec: {paused: true}'); kubectl patch deployment cmd --type=json -p '[{"op":"copy","from":"/spec/replicas","path":"/spec/minReadySeconds"},{"op":"move","from":"/spec/paused","path":"/spec/nosuch"}]'; kubectl patch --local -f files/web.yaml --type=merge -p '{"metadata":{"labels":{"x":"y"}}}' -o name; kubectl patch deployment cmd --type=json -p '{}'; kubectl patch deployment cmd -p '{"metadata":{"name":"x"}}'; kubectl patch deployment cmd -p '{"kind":"Pod"}'

kubectl apply -f - <<EOF
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: la, labels: {l: x}}, data: {a: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: lb, labels: {l: x}}, binaryData: {b: AAE=}, immutable: true}
EOF
kubectl patch cm lb --type=merge -p '{"data":{"c":"1"}}'; kubectl patch cm lb --type=merge -p '{"immutable":false}'; kubectl describe cm lb; kubectl get cm lb -o yaml; kubectl apply --prune -l l=x --prune-allowlist=core/v1/ConfigMap -f - <<< '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"la","labels":{"l":"x"}}}'; kubectl apply --prune --all -f - <<< '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"la"}}' --prune-allowlist=nosuch

kubectl create -f - <<EOF
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: np}
spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}, {namespaceSelector: {}}], ports: [{port: 1, endPort: 5}]}]}
EOF
kubectl describe netpol np; kubectl get netpol -o wide; kubectl patch netpol np --type=merge -p '{"spec":{"ingress":[{"from":[{"ipBlock":{"cidr":"x"}}]}]}}'

kubectl create -f - <<EOF
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
EOF
kubectl patch pvc c -p '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}'; kubectl patch pvc c -p '{"spec":{"accessModes":["ReadWriteMany"]}}' 2>&1 | head -3; kubectl describe pvc c | grep -v '^Events\|  Normal\|  ----\|  Type'; kubectl get pvc; kubectl delete pvc c --wait=false
