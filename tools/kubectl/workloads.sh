# Workloads and their pods: sets, revisions, set on files, exposing, resizing, debugging, waiting, deleting.

cat > sets.yaml <<EOF
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: agent, image: "agent:1"}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "db:1"}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
---
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 1
  template: {metadata: {labels: {app: old}}, spec: {containers: [{name: old, image: "old:1", ports: [{containerPort: 80}, {containerPort: 443}]}]}}
EOF
kubectl create -f sets.yaml

kubectl wait statefulset/db --for=jsonpath='{.status.replicas}'=2 --timeout=30s; kubectl wait rc/old --for=jsonpath='{.status.replicas}'=1 --timeout=30s; kubectl wait daemonset/agent --for=jsonpath='{.status.observedGeneration}'=1 --timeout=30s

kubectl get statefulset,daemonset,rc -o wide --show-labels

kubectl rollout status statefulset/db --timeout=1s; kubectl rollout status daemonset/agent --timeout=1s; kubectl rollout status rc/old; kubectl rollout status job/nosuch

kubectl set image daemonset/agent agent=agent:2; kubectl wait daemonset/agent --for=jsonpath='{.status.observedGeneration}'=2 --timeout=30s; sleep 1; kubectl rollout history daemonset/agent; kubectl rollout history daemonset/agent --revision=2; kubectl rollout history daemonset/agent --revision=7

kubectl rollout undo daemonset/agent --to-revision=1; kubectl rollout undo daemonset/agent --to-revision=9; kubectl get daemonset agent -o jsonpath='{.spec.template.spec.containers[0].image}{"\n"}'; sleep 1; kubectl get controllerrevisions -l app=agent -o custom-columns=KIND:.metadata.ownerReferences[0].kind,REVISION:.revision --no-headers | sort

kubectl set image statefulset/db '*=db:2' --dry-run=server -o jsonpath='{.spec.template.spec.containers[*].image}{"\n"}'; kubectl set image statefulset/db db=db:2; kubectl wait statefulset/db --for=jsonpath='{.status.observedGeneration}'=2 --timeout=30s; sleep 1; kubectl rollout history statefulset/db; kubectl rollout history statefulset/db --revision=1; kubectl rollout undo statefulset/db --dry-run=server; kubectl rollout undo statefulset/db

kubectl rollout restart statefulset/db daemonset/agent rc/old; kubectl rollout pause statefulset/db; kubectl rollout resume daemonset/agent; kubectl rollout restart statefulset -l app=db; kubectl rollout restart statefulset -l app=nosuch

kubectl get controllerrevision -l app=db -o yaml | sed '/data:/,/^  kind/d; /name:.*db-/d; s/hash: .*/hash: HASH/'

kubectl set env -f sets.yaml A=1 --local -o yaml | grep -A2 env:; kubectl set image -f sets.yaml '*=x:9' --local -o name; kubectl set resources -f sets.yaml --limits=cpu=1 --local -o yaml | grep -A1 limits; kubectl set sa -f sets.yaml robot --local --dry-run=client -o yaml | grep serviceAccount

kubectl set env statefulset/db B=2 A=1 --containers='d*'; kubectl set env statefulset/db --list; kubectl set env statefulset/db A- B-; kubectl set env statefulsets --all --containers=nosuch C=1; kubectl set env rc --all ENV=prod; kubectl set env pods --all --list | grep -v '^#' | sort | uniq -c

kubectl create secret generic keys --from-literal=two-b=2; kubectl set env daemonset/agent --from=secret/keys --prefix=K_; kubectl set env daemonset/agent --list --resolve; kubectl get daemonset agent -o jsonpath='{.spec.template.spec.containers[0].env}{"\n"}'; kubectl set env daemonset/agent --from=secret/nosuch

kubectl create serviceaccount robot; kubectl set serviceaccount statefulset/db robot; kubectl set serviceaccount daemonset agent; kubectl set resources daemonset agent --limits=cpu=0,memory=0 --requests=cpu=0,memory=0; kubectl set resources daemonset agent --limits=nosuch; kubectl set selector service nosuch a=b

kubectl scale statefulset/db --replicas=3 --timeout=5s; kubectl scale rc/old --replicas=2 --current-replicas=1; kubectl scale rc/old --replicas=0 --resource-version=1 2>&1 | sed 's/was [0-9]*/was VERSION/'; kubectl scale daemonset/agent --replicas=2; kubectl scale -f sets.yaml --replicas=1; kubectl scale statefulset/db rc/old --replicas=1

kubectl get statefulset/db rc/old -o custom-columns=KIND:.kind,WANTED:.spec.replicas,GENERATION:.metadata.generation

kubectl expose rc old --port=80 --target-port=8000; kubectl expose rc old --port=4100 --protocol=UDP --name=stream --cluster-ip=None --selector=a=b --labels=x=y --session-affinity=ClientIP; kubectl expose rc old --port=1 --name=bad_name; kubectl expose statefulset db --port=1; kubectl expose rc old --name=all --external-ip=192.0.2.1 --load-balancer-ip=192.0.2.2 --type=LoadBalancer

kubectl get service old stream all -o yaml | sed '/nodePort/d'

kubectl expose service all --port=443 --target-port=8443 --name=second --type=ExternalName --external-name=a.b; kubectl expose deployment nosuch --port=1; kubectl create service nodeport np --tcp=80:web; kubectl create service nodeport np --tcp=x

kubectl autoscale rc old --max=5 --cpu=80%; kubectl autoscale statefulset db --min=3 --max=6 --cpu=500m --memory=200Mi --name=both; kubectl autoscale statefulset db --min=5 --max=2 --name=bad; kubectl autoscale daemonset agent --max=2 --name=none; kubectl get hpa -o yaml | sed '/lastTransitionTime/d'

kubectl run box --image=busybox:1 --restart=OnFailure --labels=app=box --annotations=note=x --env=A=B --port=80 --overrides='{"spec":{"containers":[{"name":"box","image":"busybox:1","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}}' --override-type=strategic; kubectl run box2 --image=busybox --overrides='[{"op":"add","path":"/metadata/labels/z","value":"1"}]' --override-type=json; kubectl run box3 --image=busybox --overrides='{' ; kubectl run box4 --image='bad image'

kubectl get pod box -o custom-columns=QOS:.status.qosClass,POLICY:.spec.restartPolicy,RESIZE:.spec.containers[0].resizePolicy; kubectl patch pod box --subresource=resize -p '{"spec":{"containers":[{"name":"box","resources":{"requests":{"cpu":"200m"}}}]}}'; kubectl get pod box --subresource=resize -o jsonpath='{.spec.containers[0].resources}{"\n"}'; kubectl patch pod box --subresource=resize -p '{"spec":{"containers":[{"name":"box","image":"x"}]}}'; kubectl patch pod box --subresource=resize -p '{"spec":{"containers":[{"name":"box","resources":{"limits":{"cpu":"200m"}}}]}}'

kubectl patch pod box -p '{"spec":{"containers":[{"name":"box","image":"busybox:2"}],"activeDeadlineSeconds":5}}'; kubectl patch pod box -p '{"spec":{"activeDeadlineSeconds":9}}'; kubectl patch pod box -p '{"spec":{"nodeName":"x"}}'; kubectl patch pod box --type=json -p '[{"op":"add","path":"/spec/tolerations/-","value":{"key":"a","operator":"Exists"}}]'; kubectl patch pod box --type=json -p '[{"op":"remove","path":"/spec/tolerations/0"}]' 2>&1 | head -3

kubectl get pod box -o yaml | kubectl replace -f -; kubectl get pod box -o yaml | sed 's/restartPolicy: OnFailure/restartPolicy: Never/' | kubectl replace -f - 2>&1 | grep -v '^[-+ ]'

kubectl debug box --image=busybox -c dbg --profile=restricted --env=A=B --attach=false; kubectl debug box --image=busybox -c dbg2 --profile=sysadmin --target=box --attach=false; kubectl debug box --image=busybox --profile=nosuch; kubectl get pod box -o jsonpath='{.spec.ephemeralContainers}{"\n"}'; kubectl get pod box --subresource=ephemeralcontainers -o jsonpath='{.kind}{"\n"}'

kubectl debug box --image=busybox --copy-to=copy --container=box --attach=false --keep-labels --same-node -- sleep 1; kubectl debug box --copy-to=copy2 --set-image='*=other' --share-processes --attach=false; kubectl get pod copy copy2 -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.labels} {.spec.shareProcessNamespace} {.spec.containers[*].image}{"\n"}{end}'; kubectl debug node/nosuch --image=busybox; kubectl debug box --image=busybox --copy-to=copy --attach=false

kubectl patch pod box --subresource=ephemeralcontainers -p '{"spec":{"ephemeralContainers":[{"name":"dbg","image":"changed"}]}}'; kubectl patch pod box --subresource=ephemeralcontainers -p '{"spec":{"containers":[{"name":"box","image":"changed"}]}}'; kubectl patch pod box --subresource=ephemeralcontainers -p '{"spec":{"ephemeralContainers":[{"name":"new","image":"a","ports":[{"containerPort":1}]}]}}'

kubectl wait --for=create pod/late --timeout=10s & sleep 0.5; kubectl run late --image=a >/dev/null; wait; kubectl wait pod/late --for=condition=PodScheduled=False --timeout=2s 2>&1 | grep -v 'error: timed out'; kubectl wait pod/late --for='jsonpath={.spec.containers[0].image}' --timeout=2s; kubectl wait pod/late --for='jsonpath={.status.phase}'=Pending --timeout=2s; kubectl wait pod/late --for='jsonpath={.metadata.nosuch}'=x --timeout=1s 2>&1 | grep -v reflector; kubectl wait pods -l app=nosuch --for=condition=Ready --timeout=1s; kubectl wait pods --all --for=condition=Ready --timeout=0

kubectl wait pod/late --for=delete --timeout=10s > waited.txt & sleep 0.5; kubectl delete pod late --grace-period=0 --force; wait; cat waited.txt; kubectl delete pod late --ignore-not-found; kubectl delete pod/late pod/later

kubectl create job one --image=a --dry-run=client -o yaml | sed 's/backoffLimit.*//; s/^spec:/spec: {suspend: true, completions: 3, parallelism: 2,}/; /^spec:/!b' | head -5; kubectl create job one --image=a -- run; kubectl patch job one -p '{"spec":{"suspend":true}}'; kubectl wait job one --for=condition=Suspended --timeout=20s; kubectl patch job one -p '{"spec":{"suspend":false,"parallelism":3}}'; kubectl patch job one -p '{"spec":{"completions":3}}'; kubectl patch job one -p '{"spec":{"template":{"spec":{"restartPolicy":"OnFailure"}}}}'; kubectl wait job one --for=jsonpath='{.status.active}'=1 --timeout=20s; kubectl describe job one

kubectl create cronjob tick --image=a --schedule='0 0 1 1 *' --restart=OnFailure; kubectl patch cronjob tick -p '{"spec":{"timeZone":"Nosuch/Zone"}}'; kubectl patch cronjob tick -p '{"spec":{"timeZone":"Europe/Berlin","suspend":true,"concurrencyPolicy":"Replace"}}'; kubectl get cronjob tick -o wide; kubectl create job now --from=cronjob/tick; kubectl get job now -o jsonpath='{.metadata.ownerReferences[0].kind} {.metadata.annotations}{"\n"}'; kubectl delete cronjob tick --cascade=orphan; kubectl get job now -o name

kubectl annotate pods -l app=box description='my frontend' --list | sort | uniq -c; kubectl annotate pods --all description='my frontend' >/dev/null; kubectl annotate pod box description-; kubectl label pods -l app=box status=unhealthy --overwrite; kubectl label pod box2 box nosuch a=b; kubectl label -f sets.yaml tier=x --dry-run=server; kubectl label --local -f sets.yaml tier=x -o name

kubectl get events --field-selector type=Normal,reason=SuccessfulCreate -o custom-columns=KIND:.involvedObject.kind,NAME:.involvedObject.name --no-headers | sort -u; kubectl events --for=statefulset/db -o custom-columns=R:.reason --no-headers | sort | uniq -c; kubectl events --for=nosuch/x; kubectl events -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["kind"])'

kubectl describe statefulset/db daemonset/agent rc/old | grep -v '^  Normal'  # their order varies

kubectl get pvc -o custom-columns=NAME:.metadata.name,LABELS:.metadata.labels --no-headers; kubectl delete statefulset db --cascade=orphan; kubectl get pods -l app=db -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.ownerReferences}{"\n"}{end}'; kubectl delete pods -l app=db --grace-period=0 --force; kubectl delete pvc --all --wait=false; kubectl delete rc old --cascade=foreground --timeout=20s; kubectl delete -f sets.yaml --ignore-not-found --wait --timeout=20s; kubectl delete all -l app=box --now; kubectl delete pods --all --grace-period=-1
