# Commands about the cluster: discovery, explain, auth, certificates, nodes, rollouts, events, wait.

kubectl api-resources

kubectl api-resources -o wide

kubectl api-resources --api-group=apps --namespaced=true --verbs=list -o name

kubectl api-resources --sort-by=kind --categories=all

kubectl api-versions

kubectl version -o json | grep -A3 serverVersion | head -2

kubectl cluster-info

kubectl cluster-info dump --namespaces=cluster -o name 2>&1 | head -5

kubectl explain pods

kubectl explain deployment.spec.strategy

kubectl explain pods.spec.containers --recursive

kubectl explain hpa --api-version=autoscaling/v1

kubectl explain hpa.spec.metrics

kubectl explain nosuch

kubectl explain pods.spec.nosuch

kubectl explain pods --output=plaintext-openapiv2

kubectl explain cronjob -o plaintext --recursive

for kind in $(kubectl api-resources -o name | grep -v example.com); do kubectl explain $kind --recursive; done

for kind in $(kubectl api-resources -o name | grep -v example.com); do kubectl explain $kind; kubectl explain $kind.spec; kubectl explain $kind.status; done 2>&1

kubectl auth whoami

kubectl auth whoami -o yaml --as=jane --as-group=g --as-uid=7 --as-user-extra=k=v

kubectl auth can-i create pods; kubectl auth can-i create pods --as=jane; kubectl auth can-i '*' '*'; kubectl auth can-i get /metrics --as=jane

kubectl auth can-i --list --as=jane

kubectl auth can-i --list

kubectl auth can-i get nosuch; kubectl auth can-i get pods/log; kubectl auth can-i use deploy/web --subresource=scale

kubectl auth reconcile -f - <<EOF
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: auto}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
EOF

kubectl auth reconcile --remove-extra-permissions -f - <<EOF
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: auto}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
EOF

openssl req -new -newkey rsa:2048 -nodes -keyout jane.key -subj /CN=jane/O=dev -out jane.csr 2>/dev/null; kubectl apply -f - <<EOF
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: jane}
spec:
  request: $(base64 -w0 jane.csr)
  signerName: example.com/custom
  usages: [client auth]
EOF

kubectl get csr jane; kubectl certificate approve jane; kubectl get csr; kubectl describe csr jane; kubectl certificate deny jane; kubectl delete csr jane

kubectl certificate approve nosuch

kubectl create -f - <<EOF
apiVersion: v1
kind: Node
metadata: {name: cn1, labels: {zone: a}}
EOF

kubectl patch node cn1 --subresource=status --type=merge -p '{"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"110"},"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"ready"}],"nodeInfo":{"kubeletVersion":"v1.36.2","architecture":"amd64","operatingSystem":"linux","osImage":"x","kernelVersion":"6","containerRuntimeVersion":"c://2","kubeProxyVersion":"","machineID":"","systemUUID":"","bootID":""},"addresses":[{"type":"InternalIP","address":"10.1.1.1"},{"type":"Hostname","address":"cn1"}]}}'

kubectl taint node cn1 k=v:NoSchedule; kubectl taint node cn1 k=v:NoSchedule; kubectl taint node cn1 k=w:NoSchedule --overwrite; kubectl taint node cn1 k-; kubectl taint node cn1 k-

kubectl taint node cn1 bad=x:Nonsense

kubectl cordon cn1; kubectl cordon cn1; kubectl get node cn1; kubectl uncordon cn1; kubectl uncordon cn1

kubectl run bare --image=a --overrides='{"spec":{"nodeName":"cn1"}}'; kubectl drain cn1

kubectl drain cn1 --force --ignore-daemonsets --delete-emptydir-data --timeout=3s --dry-run=server

kubectl patch pod bare --subresource=status --type=merge -p '{"status":{"phase":"Running","podIP":"10.244.0.5","hostIP":"10.1.1.1","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True"},{"type":"ContainersReady","status":"True"}],"containerStatuses":[{"name":"bare","ready":true,"restartCount":2,"image":"a","imageID":"x","state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","finishedAt":"2026-01-01T00:00:00Z","startedAt":"2026-01-01T00:00:00Z"}}}]}}'

kubectl get pod bare -o wide | sed 's/[0-9]*[dhm][0-9hm]* ago/X ago/; s/ [0-9]*d / AGE /'

kubectl describe pod bare

until kubectl get events -A -o name --field-selector=reason=RegisteredNode | grep -q cn1; do sleep 0.5; done; kubectl describe node cn1

kubectl get node cn1 -o wide

kubectl top nodes; kubectl top pods

kubectl delete pod bare --force; kubectl delete node cn1

kubectl create deployment roll --image=a:1 --replicas=2; kubectl rollout status deployment/roll --timeout=1s

kubectl set image deployment/roll a=a:2; kubectl annotate deployment roll kubernetes.io/change-cause='second'; sleep 1; kubectl rollout history deployment/roll; kubectl rollout history deployment/roll --revision=2

kubectl rollout undo deployment/roll; sleep 1; kubectl rollout history deployment/roll; kubectl rollout undo deployment/roll --to-revision=9

kubectl rollout pause deployment/roll; kubectl rollout pause deployment/roll; kubectl rollout restart deployment/roll; kubectl rollout resume deployment/roll; kubectl rollout resume deployment/roll; kubectl rollout restart deployment/roll

kubectl rollout status deployment/nosuch; kubectl rollout history configmap/x

kubectl get deployment roll -o yaml

kubectl describe deployment roll

kubectl get rs --sort-by=.metadata.creationTimestamp

kubectl events --for=deployment/roll; kubectl events --types=Warning

kubectl get events -o wide --sort-by=.metadata.name | sed 's/ .*//' | sort | uniq -c | sed 's/^ *//; s/[0-9]* //'

kubectl wait deployment/roll --for=condition=Available --timeout=1s; kubectl wait deployment/roll --for=condition=Progressing --timeout=5s; kubectl wait deployment/roll --for=jsonpath='{.spec.replicas}'=2 --timeout=5s; kubectl wait --for=delete deployment/nosuch; kubectl wait --for=create deployment/roll --timeout=5s; kubectl wait deployment/nosuch --for=condition=Available --timeout=1s

kubectl config view --minify -o jsonpath='{.contexts[0].context.namespace}'; kubectl config get-contexts --no-headers | wc -l

kubectl logs deployment/roll 2>&1 | sed 's/pod\/[^ ]*/POD/; s/"roll-[^"]*"/POD/g'

kubectl get nodes; kubectl get csr; kubectl get sc

kubectl create deployment x --image=a --as=jane; kubectl delete deployment roll --as=system:serviceaccount:cluster:default

kubectl get pods --token=bad; kubectl get pods --as-group=g 2>&1 | sed 's/for [a-z]* without/without/'

kubectl alpha kuberc view; kubectl plugin list
