# create: each generator; run; expose; autoscale.

kubectl create deployment one --image=nginx --replicas=2 --port=80

kubectl create deployment two --image=nginx --image=busybox --dry-run=server -o yaml

kubectl create deployment two --image=nginx -- sleep 10

kubectl create service clusterip ip --tcp=80:8080

kubectl create service clusterip headless --clusterip=None --tcp=80

kubectl create service nodeport np --tcp=80 --node-port=32080

kubectl create service nodeport np2 --tcp=80 --node-port=100

kubectl create service loadbalancer lb --tcp=443:8443

kubectl create service externalname out --external-name=example.com

kubectl get svc

kubectl get svc -o yaml

kubectl create configmap cm --from-literal=a=1 --from-file=files/web.yaml

kubectl create configmap cm --from-literal=a=1

kubectl create configmap 'Bad Name' --from-literal=a=1

kubectl create configmap cm2 --from-literal='bad key'=1

kubectl create secret generic gen --from-literal=a=1 --type=example.com/mine

kubectl create secret docker-registry reg --docker-server=example.com --docker-username=u --docker-password=p

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout tls.key -out tls.crt -subj /CN=example.com 2>/dev/null; kubectl create secret tls tls --cert=tls.crt --key=tls.key

kubectl get secrets -o yaml | sed '/tls\.\(crt\|key\):/d'

kubectl create job job --image=busybox -- date

kubectl create cronjob cron --image=busybox --schedule='*/5 * * * *' -- date

kubectl create cronjob bad --image=busybox --schedule='nonsense' -- date

kubectl create job manual --from=cronjob/cron

kubectl get jobs,cronjobs -o yaml

kubectl create ingress ing --class=nginx --rule='example.com/api*=svc:8080,tls=cert' --default-backend=d:80

kubectl get ingress ing -o yaml

kubectl create namespace other; kubectl create ns other; kubectl get ns other -o yaml; kubectl delete ns other

kubectl create poddisruptionbudget pdb --selector=app=one --min-available=1

kubectl create pdb pdb2 --selector=app=one --max-unavailable=50%

kubectl create priorityclass pc --value=10 --description=d; kubectl create priorityclass big --value=2000000000; kubectl get pc pc -o yaml; kubectl delete pc pc

kubectl create quota q --hard=cpu=1,pods=9 --scopes=BestEffort

kubectl create quota q2 --hard=pods=5; kubectl delete quota --all

kubectl create role r --verb=get,list --resource=pods,deployments.apps/scale --resource-name=x

kubectl create role r2 --verb=nosuch --resource=nosuch

kubectl create rolebinding rb --role=r --user=jane --group=g --serviceaccount=create:default

kubectl create clusterrole cr-create --verb=get --resource=nodes --dry-run=server -o yaml

kubectl create clusterrole cr-url --verb=get --non-resource-url=/logs/* --dry-run=server -o yaml

kubectl create clusterrole cr-agg --aggregation-rule=a=b --dry-run=server -o yaml

kubectl create clusterrolebinding crb-create --clusterrole=view --user=jane --dry-run=server -o yaml

kubectl create serviceaccount sa; kubectl get sa sa -o yaml

kubectl create token sa | cut -d. -f1 | wc -l; kubectl create token sa --duration=5m; kubectl create token nosuch

kubectl create token sa --audience=a --bound-object-kind=Pod --bound-object-name=nosuch

kubectl run pod --image=nginx --port=80 --labels=a=b --env=X=1 --restart=Never

kubectl run pod --image=nginx

kubectl run pod3 --image=nginx --dry-run=server -o yaml --command -- sh -c 'sleep 1'

kubectl run pod4 --image=nginx --expose --port=80

kubectl get pods pod -o yaml

kubectl expose deployment one --port=80 --target-port=8080 --name=exposed --type=NodePort

kubectl expose deployment two

kubectl expose pod pod --port=80 --dry-run=server -o yaml

kubectl autoscale deployment one --min=1 --max=3 --cpu=50%

kubectl get hpa one -o yaml

kubectl scale deployment one --replicas=3

kubectl scale deployment one --current-replicas=9 --replicas=4

kubectl scale deployment nosuch --replicas=4

kubectl scale deployment one --replicas=-1

kubectl scale rs,deployment --all --replicas=1

kubectl create -f files/web.yaml; kubectl create -f files/web.yaml

kubectl create -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata: {name: strict}
data: {a: b}
unknown: field
EOF

kubectl create --validate=warn -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata: {name: strict}
data: {a: b}
unknown: field
EOF

kubectl create --validate=ignore -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: bad}
spec: {containers: [{name: Bad_Name, image: ""}]}
EOF

kubectl create -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {generateName: gen-}
spec: {containers: [{name: a, image: a}]}
EOF

kubectl create -f - <<EOF
apiVersion: example.com/v9
kind: Nosuch
metadata: {name: x}
EOF

kubectl create --raw /api/v1/namespaces/create/configmaps -f - <<EOF | python3 -m json.tool --sort-keys
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "raw"}}
EOF
