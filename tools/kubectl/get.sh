# get: outputs, sorting, selectors, watches, sub-resources.

kubectl apply -f files/web.yaml

kubectl wait deployment/web --for=jsonpath='{.status.replicas}'=2 --timeout=20s

kubectl get deployment web

kubectl get deployment web -o wide

kubectl get deployment,service,configmap

kubectl get all

kubectl get pods --show-labels

kubectl get deployment web -o yaml

kubectl get deployment web -o json --show-managed-fields | sort  # the order of the entries depends on the seconds of their writes

kubectl get service web -o yaml --show-managed-fields

kubectl get deployment web -o name

kubectl get pods -o jsonpath='{range .items[*]}{.spec.containers[0].image}{"\n"}{end}'

kubectl get pods -o custom-columns=IMAGE:.spec.containers[0].image,PHASE:.status.phase

kubectl get pods -o custom-columns-file=<(printf 'NAME KIND\nspec.containers[0].name kind\n')

kubectl get deployment web -o go-template='{{.spec.replicas}} {{.kind}}'

kubectl get configmap settings -o jsonpath-as-json='{.data}'

kubectl get configmap settings -o kyaml

kubectl get configmaps --sort-by=.metadata.name

kubectl get pods -l app=web --no-headers

kubectl get pods -l 'app in (db,web),!gone' --no-headers

kubectl get pods --field-selector=status.phase=Pending --no-headers

kubectl get pods --field-selector=status.nothing=Pending

kubectl get pods -l 'a=='

kubectl get pods -l 'a in b'

kubectl get configmaps -L app --label-columns=tier

kubectl get deployment web --subresource=scale

kubectl get deployment web --subresource=scale -o yaml

kubectl get deployment web --subresource=status -o jsonpath='{.status.observedGeneration}'

kubectl get deployment web --subresource=nosuch

kubectl get deployment nosuch

kubectl get deployment nosuch --ignore-not-found

kubectl get nosuch

kubectl get nosuch.example.com/v1

kubectl get deployments.v1.apps web

kubectl get deployments.apps/web svc/web

kubectl get deploy/web cm/none

kubectl get configmaps --chunk-size=1 -A --no-headers | awk '{print $1, $2}' | sort | grep -v 'get\|extension-apiserver'  # of a client CA

kubectl get namespaces

kubectl get namespace get -o yaml

kubectl get componentstatuses | grep -v controller-manager  # where its port is differs

kubectl get -f files/web.yaml

kubectl get --raw /api/v1/namespaces/get/configmaps/settings | python3 -m json.tool --sort-keys

kubectl get --raw /nosuch

kubectl get --raw /version | grep -v '"\(gitCommit\|gitTreeState\|buildDate\|goVersion\|compiler\|platform\)"'

kubectl get --raw /apis/apps/v1/namespaces/get/deployments/web/scale | python3 -m json.tool --sort-keys

kubectl get events --field-selector involvedObject.kind=Deployment

kubectl get pods -w --request-timeout=2s -o name

kubectl get configmap settings -w --output-watch-events --request-timeout=2s

kubectl get pods --watch-only --request-timeout=1s

kubectl get cm settings -o yaml --as=jane

kubectl get pods --as=jane

kubectl get pods -n nosuch

kubectl get pods --all-namespaces --as=jane

kubectl get flowschemas

kubectl get prioritylevelconfigurations

kubectl get priorityclasses

kubectl get servicecidrs,ipaddresses -o name

kubectl get apiservices

kubectl get clusterroles system:basic-user -o yaml

kubectl get clusterrolebindings cluster-admin -o wide

kubectl get rolebindings -A -o wide

kubectl get service -n default

kubectl get endpointslices,endpoints -n default | sed 's/ [0-9].*//'  # addresses
