# describe: each kind.

kubectl apply -f files/web.yaml -f files/kinds.yaml

kubectl apply -f files/cluster.yaml

kubectl wait deployment/web --for=jsonpath='{.status.replicas}'=2 --timeout=20s >/dev/null; kubectl wait statefulset/db --for=jsonpath='{.status.replicas}'=1 --timeout=20s >/dev/null; kubectl wait job/once --for=jsonpath='{.status.active}'=2 --timeout=20s > /dev/null

kubectl describe deployment web

kubectl describe rs -l app=web

kubectl describe pod -l app=web

kubectl describe service web

kubectl describe configmap settings

kubectl describe statefulset db

kubectl describe daemonset agent

kubectl describe job once

kubectl describe cronjob nightly

kubectl describe ingress web

kubectl describe networkpolicy deny

kubectl describe hpa web

kubectl describe pdb web

kubectl describe pvc claim

kubectl describe secret password

kubectl describe serviceaccount robot

kubectl describe quota quota

kubectl describe limits limits

kubectl describe rc old

kubectl describe podtemplate template

kubectl describe role reader

kubectl describe rolebinding reader

kubectl describe lease lease

kubectl describe endpointslice manual

kubectl describe endpoints other

kubectl describe csistoragecapacity capacity

kubectl describe controllerrevision revision

kubectl describe resourceclaimtemplate gpu

kubectl describe resourceclaim gpu

until kubectl get events -A --field-selector=involvedObject.name=n1,reason=RegisteredNode -o name | grep -q .; do sleep 0.2; done 2> waiting.txt; kubectl describe node n1

kubectl describe pv pv1

kubectl describe storageclass slow

kubectl describe priorityclass high

kubectl describe ingressclass nginx

kubectl describe runtimeclass gvisor

kubectl describe csidriver example.com

kubectl describe csinode n1

kubectl describe volumeattachment attachment

kubectl describe volumeattributesclass fast

kubectl describe clusterrole watcher

kubectl describe clusterrolebinding watcher

kubectl describe validatingwebhookconfiguration guard

kubectl describe mutatingwebhookconfiguration guard

kubectl describe validatingadmissionpolicy small

kubectl describe validatingadmissionpolicybinding small

kubectl describe prioritylevelconfiguration mine

kubectl describe flowschema mine

kubectl describe servicecidr more

kubectl describe ipaddress 192.0.2.200

kubectl describe deviceclass gpu

kubectl describe resourceslice slice

kubectl describe crd things.example.com

kubectl describe namespace describe

kubectl describe namespace default

kubectl describe flowschema exempt

kubectl describe apiservice v1.apps

kubectl describe service kubernetes -n default | grep -v '^TargetPort\|^Endpoints'  # addresses

kubectl get sts,ds,job,cronjob,ing,netpol,hpa,pdb,pvc,secret,sa,quota,limits,rc,podtemplate,role,rolebinding,lease,endpointslice,endpoints,csistoragecapacity,controllerrevision,resourceclaimtemplate,resourceclaim -o wide

kubectl get node,pv,sc,pc,ingressclass,runtimeclass,csidriver,csinode,volumeattachment,volumeattributesclass,clusterrole/watcher,clusterrolebinding/watcher -o wide

kubectl get node,pv,sc,pc -o wide

kubectl get validatingwebhookconfiguration,mutatingwebhookconfiguration,validatingadmissionpolicy,validatingadmissionpolicybinding,servicecidr,deviceclass,resourceslice,crd -o wide

kubectl get prioritylevelconfiguration/mine flowschema/mine

kubectl get flowschema mine -o yaml; kubectl get prioritylevelconfiguration mine -o yaml

kubectl get servicecidr more -o yaml

kubectl get sts db -o yaml

kubectl get job once -o yaml

kubectl get ing,netpol,hpa,pdb,pvc -o yaml

kubectl get rs -o yaml

kubectl get rc,quota -o yaml

kubectl get pod -l app=web -o yaml

kubectl create -f - <<EOF
apiVersion: example.com/v1
kind: Thing
metadata: {name: one}
spec: {replicas: 2}
EOF

kubectl describe thing one

kubectl get all

kubectl get tg -o wide; kubectl get thing one --subresource=scale; kubectl scale thing one --replicas=5; kubectl get thing one -o yaml

kubectl explain thing; kubectl explain thing.spec --recursive; kubectl explain thing.spec.mode

kubectl delete -f files/cluster.yaml
