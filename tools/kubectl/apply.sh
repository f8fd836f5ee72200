# apply, diff, edit, patch, replace, set, label, annotate, delete.

kubectl diff -f files/web.yaml | grep -v '^\(diff\|---\|+++\)'

kubectl apply -f files/web.yaml --dry-run=client

kubectl apply -f files/web.yaml --dry-run=server

kubectl apply -f files/web.yaml

kubectl apply -f files/web.yaml

kubectl diff -f files/web.yaml

sed 's/replicas: 2/replicas: 3/; s/nginx:1.27/nginx:1.28/' files/web.yaml > web2.yaml; kubectl diff -f web2.yaml | grep '^[-+] '; kubectl apply -f web2.yaml

kubectl apply view-last-applied deployment/web

kubectl apply set-last-applied -f files/web.yaml

kubectl apply --server-side -f files/web.yaml

kubectl apply --server-side -f files/web.yaml --force-conflicts

kubectl apply --server-side --field-manager=other -f - <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 7}
EOF

kubectl apply --server-side --field-manager=other --force-conflicts -f - <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 7}
EOF

kubectl get deployment web -o yaml --show-managed-fields

kubectl apply -f - <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {selector: {matchLabels: {app: other}}, template: {metadata: {labels: {app: other}}, spec: {containers: [{name: a, image: a}]}}}
EOF

mkdir p; for i in a b; do kubectl create configmap $i --from-literal=x=1 --dry-run=client -o yaml | kubectl label --local -f - -o yaml set=p > p/$i.yaml; done; kubectl apply -f p --prune -l set=p --prune-allowlist=core/v1/ConfigMap

rm p/a.yaml; kubectl apply -f p --prune -l set=p --prune-allowlist=core/v1/ConfigMap

KUBECTL_APPLYSET=true kubectl apply -f p --prune --applyset=mine; KUBECTL_APPLYSET=true kubectl get secret mine -o yaml

kubectl apply -k files/kustomize; kubectl kustomize files/kustomize

kubectl apply -f nosuch.yaml

kubectl patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:9"}]}}}}'

kubectl patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:9"}]}}}}'

kubectl patch deployment web --type=merge -p '{"metadata":{"labels":{"x":"y"}}}'

kubectl patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":4}]'

kubectl patch deployment web --type=json -p '[{"op":"test","path":"/spec/replicas","value":5}]'

kubectl patch deployment web --type=json -p '[{"op":"remove","path":"/spec/nosuch"}]'

kubectl patch deployment web -p '{"spec":{"replicas":"x"}}'

kubectl patch deployment web -p 'nonsense'

kubectl patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":2}}'

kubectl patch deployment web --subresource=status --type=merge -p '{"status":{"observedGeneration":77}}' -o jsonpath='{.status.observedGeneration}'

kubectl patch service web --type=merge -p '{"spec":{"clusterIP":"10.0.0.99"}}'

kubectl patch node nosuch -p '{}'

kubectl patch -f files/web.yaml -p '{"metadata":{"annotations":{"a":"b"}}}'

kubectl get deployment web -o json | sed 's/"replicas": 2/"replicas": 5/' | kubectl replace -f -

kubectl replace -f files/web.yaml

kubectl replace --force -f p/b.yaml

kubectl replace -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata: {name: nosuch}
EOF

EDITOR="sed -i s/replicas:.*/replicas:\ 6/" kubectl edit deployment web

EDITOR=true kubectl edit deployment web

EDITOR="sed -i s/image:\ nginx.*/image:\ 5/" kubectl edit deployment web -o yaml --save-config | head -3

EDITOR="sed -i s/strategy:/nonsense:/" kubectl edit deployment web 2>&1 | head -20

EDITOR="sed -i s/observedGeneration:.*/observedGeneration:\ 99/" kubectl edit deployment web --subresource=status

kubectl set image deployment/web web=nginx:2

kubectl set image deployment/web nosuch=nginx:2

kubectl set env deployment/web A=1 MODE-; kubectl set env deployment/web --list

kubectl set env deployment/web --from=configmap/settings --prefix=S_ --keys=level

kubectl set resources deployment/web -c=web --limits=cpu=300m,memory=256Mi --requests=cpu=1m

kubectl set serviceaccount deployment/web default

kubectl set selector service web app=other

kubectl create rolebinding rb --clusterrole=view --user=jane; kubectl set subject rolebinding rb --user=joe --group=g

kubectl label deployment web a=b; kubectl label deployment web a=c; kubectl label deployment web a=c --overwrite; kubectl label deployment web a-; kubectl label deployment web nosuch-

kubectl label configmaps --all tier=back

kubectl label deployment web 'bad label'=x

kubectl label deployment web ok='bad value!'

kubectl label deployment web a=b --resource-version=1

kubectl label pods -l nosuch=x a=b

kubectl annotate deployment web note='some text'; kubectl annotate deployment web note-; kubectl annotate cm settings --list

kubectl wait deployment web --for=jsonpath='{.status.updatedReplicas}'=3 --timeout=20s; kubectl get deployment web -o yaml

kubectl delete configmap nosuch

kubectl delete configmap settings --dry-run=server; kubectl delete configmap settings; kubectl delete configmap settings --ignore-not-found

kubectl delete deployment web --cascade=orphan; sleep 1; kubectl get rs -o jsonpath='{.items[*].metadata.ownerReferences}'

kubectl delete rs --all --cascade=foreground --wait --timeout=20s >/dev/null; kubectl get rs,pods

kubectl delete service,secret --all

kubectl create configmap held --from-literal=a=1; kubectl patch cm held --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'; kubectl delete cm held --timeout=1s

kubectl delete cm held --wait=false; kubectl get cm held -o yaml; kubectl patch cm held --type=merge -p '{"metadata":{"finalizers":null}}'; kubectl wait cm/held --for=delete --timeout=5s

kubectl run pod --image=a --restart=Never; kubectl delete pod pod --now; kubectl run pod --image=a; kubectl delete pod pod --grace-period=0 --force

kubectl delete namespace default; kubectl delete pc system-node-critical; kubectl delete apiservice v1.apps

kubectl delete --raw /api/v1/namespaces/apply/configmaps/b

kubectl delete nosuch x
