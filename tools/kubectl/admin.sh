# An administrator's work: definitions, policies, quotas, roles, tokens, certificates, nodes, raw requests, the proxy.

cat > crd.yaml <<EOF
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.admin.example.com}
spec:
  group: admin.example.com
  scope: Namespaced
  names: {plural: backups, singular: backup, kind: Backup, shortNames: [bk], categories: [all, ops]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.copies, statusReplicasPath: .status.copies, labelSelectorPath: .status.selector}}
    selectableFields: [{jsonPath: .spec.tier}]
    additionalPrinterColumns:
    - {name: Copies, type: integer, jsonPath: .spec.copies}
    - {name: Next, type: date, jsonPath: .spec.next}
    - {name: Tier, type: string, jsonPath: .spec.tier, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A backup.
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [copies]
            x-kubernetes-validations: [{rule: "self.copies < 9 || self.tier == 'gold'", message: only gold has nine copies}]
            properties:
              copies: {type: integer, minimum: 1, description: How many.}
              tier: {type: string, enum: [gold, tin], default: tin}
              next: {type: string, format: date-time}
              port: {x-kubernetes-int-or-string: true}
              parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, size: {type: string}}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - {name: v1alpha1, served: true, storage: false, deprecated: true, deprecationWarning: use v1, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
EOF
kubectl apply -f crd.yaml; kubectl wait crd/backups.admin.example.com --for=condition=Established --timeout=20s; sleep 2; kubectl get crd backups.admin.example.com -o wide | sed 's/ 20.*//'

kubectl create -f - <<EOF
apiVersion: admin.example.com/v1
kind: Backup
metadata: {name: one}
spec: {copies: 2, port: 80, parts: [{name: a}, {name: b, size: 1Gi}]}
EOF

kubectl get bk; kubectl get backups -o wide; kubectl get ops -o name; kubectl get backups.v1alpha1.admin.example.com; kubectl get backup.admin.example.com/one -o yaml; kubectl get bk --field-selector=spec.tier=tin -o name; kubectl get bk --field-selector=spec.copies=2

kubectl patch bk one --type=merge -p '{"spec":{"copies":0}}'; kubectl patch bk one --type=merge -p '{"spec":{"copies":9}}'; kubectl patch bk one --type=merge -p '{"spec":{"copies":9,"tier":"gold"}}'; kubectl patch bk one -p '{"spec":{"copies":3}}'; kubectl patch bk one --type=json -p '[{"op":"replace","path":"/spec/tier","value":"silver"}]'; kubectl patch bk one --type=merge -p '{"spec":{"nosuch":1}}'; kubectl patch bk one --type=merge -p '{"spec":{"parts":[{"name":"a"},{"name":"a"}]}}'

kubectl scale bk one --replicas=4 --current-replicas=9; kubectl scale bk one --replicas=4; kubectl get bk one --subresource=scale; kubectl patch bk one --subresource=status --type=merge -p '{"status":{"copies":3,"selector":"a=b","any":[1]},"spec":{"copies":7}}'; kubectl get bk one --subresource=scale -o yaml; kubectl get bk one -o jsonpath='{.spec.copies} {.status}{"\n"}'; kubectl autoscale bk one --max=3

kubectl explain bk; kubectl explain backup.spec; kubectl explain backup.spec.parts --recursive; kubectl explain backups --api-version=admin.example.com/v1alpha1; kubectl explain backup.spec.nosuch; kubectl explain backup --output=plaintext-openapiv2

kubectl apply --server-side -f - <<EOF
apiVersion: admin.example.com/v1
kind: Backup
metadata: {name: one}
spec: {copies: 4, parts: [{name: b, size: 2Gi}, {name: c}]}
EOF

kubectl apply --server-side --force-conflicts --field-manager=ops -f - <<EOF
apiVersion: admin.example.com/v1
kind: Backup
metadata: {name: one, labels: {a: b}}
spec: {copies: 5, parts: [{name: b, size: 2Gi}, {name: c}]}
EOF

kubectl get bk one -o yaml --show-managed-fields; kubectl diff --server-side -f - <<EOF | grep '^[-+] '
apiVersion: admin.example.com/v1
kind: Backup
metadata: {name: one}
spec: {copies: 6}
EOF

kubectl create -f - <<EOF
apiVersion: admin.example.com/v1
kind: Backup
metadata: {name: two}
spec: {copies: x, tier: [], next: yesterday, nosuch: 1}
EOF

kubectl create --validate=warn -f - <<EOF
apiVersion: admin.example.com/v1
kind: Backup
metadata: {name: two, nosuch: 1}
spec: {copies: 1, nosuch: 1}
EOF

kubectl create -f - <<EOF
apiVersion: admin.example.com/v1alpha1
kind: Backup
metadata: {name: three}
spec: {copies: 1}
EOF

kubectl label bk --all x=y; kubectl annotate bk one note=1; kubectl edit bk one --subresource=nosuch; EDITOR='sed -i s/copies:\ [0-9]*/copies:\ 0/' kubectl edit bk one 2>&1 | grep -v '^#\|/tmp'; kubectl wait bk/one --for=jsonpath='{.status.copies}'=3 --timeout=2s; kubectl delete bk two three; kubectl delete bk --all --dry-run=server; kubectl get all -o name

kubectl create -f - <<EOF
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: admin-small}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  validations: [{expression: "object.data.size() < 2", messageExpression: "'too many keys: ' + string(object.data.size())", reason: Forbidden}, {expression: "!has(object.data.bad)"}]
  auditAnnotations: [{key: keys, valueExpression: "string(object.data.size())"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: admin-small}
spec: {policyName: admin-small, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: admin}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: admin-label}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'made': 'by-policy'}}}"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: admin-label}
spec: {policyName: admin-label, matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: admin}}}}
EOF
sleep 3; kubectl get validatingadmissionpolicy,validatingadmissionpolicybinding,mutatingadmissionpolicy,mutatingadmissionpolicybinding | grep admin-

kubectl create configmap big --from-literal=a=1 --from-literal=b=2; kubectl create configmap bad --from-literal=bad=1; kubectl create configmap good --from-literal=a=1; kubectl get configmap good --show-labels; kubectl patch configmap good -p '{"data":{"b":"2"}}'; kubectl patch validatingadmissionpolicybinding admin-small --type=merge -p '{"spec":{"validationActions":["Warn","Audit"]}}'; sleep 2; kubectl patch configmap good -p '{"data":{"b":"2"}}'

kubectl describe validatingadmissionpolicy admin-small; kubectl create --dry-run=server -f - <<EOF
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: admin-bad}
spec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}, validations: [{expression: "object.nosuch("}, {expression: "1 + 1"}], variables: [{name: a b, expression: "1"}]}
EOF

kubectl delete validatingadmissionpolicy,validatingadmissionpolicybinding,mutatingadmissionpolicy,mutatingadmissionpolicybinding admin-small admin-label 2>&1 | grep -v NotFound; sleep 2

# kube-controller-manager notices within a minute that quotas count a new kind, and counts for quotas that are newer only.
until kubectl create quota probe --hard=count/backups.admin.example.com=9 && kubectl wait quota probe --for=jsonpath='{.status.used.count/backups\.admin\.example\.com}'=1 --timeout=3s; do kubectl delete quota probe; done > probe.txt 2>&1; kubectl delete quota probe
kubectl create quota small --hard=configmaps=5,requests.cpu=1,count/backups.admin.example.com=2; kubectl wait quota small --for=jsonpath='{.status.used.configmaps}'=2 --timeout=20s; for i in 1 2 3 4; do kubectl create configmap full-$i; done; kubectl run needs --image=a; kubectl describe quota small; kubectl get quota small; kubectl patch quota small --type=merge -p '{"spec":{"hard":{"bad name":"1"}}}'; kubectl delete quota small

kubectl create -f - <<EOF
apiVersion: v1
kind: LimitRange
metadata: {name: sizes}
spec: {limits: [{type: Container, max: {cpu: "1"}, min: {cpu: 10m}, default: {cpu: 500m}, defaultRequest: {cpu: 100m}}]}
EOF
kubectl run limited --image=a; kubectl get pod limited -o jsonpath='{.spec.containers[0].resources} {.metadata.annotations}{"\n"}'; kubectl run large --image=a --overrides='{"spec":{"containers":[{"name":"large","image":"a","resources":{"limits":{"cpu":"2"}}}]}}'; kubectl describe limits sizes; kubectl delete limits sizes; kubectl delete pod limited --now

kubectl label namespace admin pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted; kubectl run root --image=a; kubectl create deployment root --image=a; kubectl label namespace admin pod-security.kubernetes.io/enforce=nosuch --overwrite; kubectl label namespace admin pod-security.kubernetes.io/enforce- pod-security.kubernetes.io/warn-; kubectl delete deployment root

kubectl create role r --verb='*' --resource=pods,services/proxy --dry-run=client -o yaml; kubectl create role reader --verb=get --verb=list --resource=pods --resource=configmaps; kubectl create clusterrole admin-url --verb=get --non-resource-url='/admin/*'; kubectl create clusterrole admin-sum --aggregation-rule=admin.example.com/sum=true; kubectl label clusterrole admin-url admin.example.com/sum=true; sleep 1; kubectl get clusterrole admin-sum -o jsonpath='{.rules}{"\n"}'; kubectl create clusterrole admin-bad --verb=get --non-resource-url='/a*b'; kubectl create role bad --verb=get --resource=nodes --resource-name=a

kubectl create rolebinding reader --role=reader --serviceaccount=admin:robot --group=dev; kubectl set subject rolebinding reader --user=ann --serviceaccount=admin:other; kubectl get rolebinding reader -o wide; kubectl patch rolebinding reader -p '{"roleRef":{"name":"other"}}'; kubectl auth can-i list pods --as=ann; kubectl auth can-i list pods --as=bob --as-group=dev; kubectl auth can-i list pods --as=system:serviceaccount:admin:robot; kubectl auth can-i get /admin/x --as=ann; kubectl auth can-i --list --as=ann | grep -v '^ '; kubectl auth can-i list jobs.batch/bar --as=ann -n default; kubectl auth can-i approve certificates.k8s.io; kubectl auth can-i get pods --all-namespaces --as=ann

kubectl create role more --verb=get --resource=secrets --as=ann; kubectl create rolebinding up --clusterrole=cluster-admin --user=ann --as=ann; kubectl create clusterrolebinding admin-rb --clusterrole=edit --user=eve; kubectl create role more --verb=get --resource=nodes --as=eve; kubectl create role more --verb=impersonate --resource=users --as=eve; kubectl delete clusterrolebinding admin-rb

kubectl auth reconcile -f - --dry-run=server <<EOF
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: User, name: zoe, apiGroup: rbac.authorization.k8s.io}]
EOF

kubectl create serviceaccount robot; kubectl create token robot --duration=1h --bound-object-kind=Secret --bound-object-name=nosuch; kubectl create token robot --duration=1s; kubectl create token robot --bound-object-kind=Nosuch --bound-object-name=x; TOKEN=$(kubectl create token robot); kubectl auth whoami --token=$TOKEN -o jsonpath='{.status.userInfo.username} {.status.userInfo.groups}{"\n"}'; kubectl get pods --token=$TOKEN; kubectl get secrets --token=$TOKEN; kubectl delete serviceaccount robot

kubectl create -f - <<EOF
apiVersion: authorization.k8s.io/v1
kind: LocalSubjectAccessReview
metadata: {namespace: admin}
spec: {user: ann, resourceAttributes: {namespace: other, verb: get, resource: pods}}
EOF

kubectl create -o yaml -f - <<EOF
apiVersion: authorization.k8s.io/v1
kind: SubjectAccessReview
spec: {user: ann, resourceAttributes: {namespace: admin, verb: list, resource: pods, labelSelector: {requirements: [{key: a, operator: In, values: [b]}]}}}
EOF

openssl req -new -newkey rsa:2048 -nodes -keyout k.key -subj /CN=ann/O=dev -out k.csr 2>/dev/null; for signer in kubernetes.io/kube-apiserver-client kubernetes.io/kubelet-serving example.com/x bad; do kubectl create -f - <<EOF
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: admin-$(basename $signer)}
spec: {request: $(base64 -w0 k.csr), signerName: $signer, expirationSeconds: 3600, usages: [client auth, digital signature]}
EOF
done; kubectl certificate approve admin-kube-apiserver-client; kubectl certificate deny admin-x; kubectl certificate deny admin-kube-apiserver-client; kubectl get csr -o wide | grep admin- | sed 's/,Issued//'; kubectl patch csr admin-x --subresource=approval --type=json -p '[{"op":"remove","path":"/status/conditions"}]'; kubectl patch csr admin-x --type=merge -p '{"spec":{"signerName":"example.com/y"}}'; kubectl delete csr admin-kube-apiserver-client admin-x admin-kubelet-serving

for i in 1 2; do kubectl create -f - <<EOF
apiVersion: v1
kind: Node
metadata: {name: admin-$i, labels: {pool: admin}}
EOF
done; kubectl taint nodes -l pool=admin dedicated=foo:PreferNoSchedule; kubectl taint nodes admin-1 dedicated:NoExecute dedicated-; kubectl taint nodes admin-1 bar:NoSchedule bar2=x:NoSchedule; kubectl taint nodes admin-1 bar:NoSchedule-; kubectl taint nodes nosuch a:NoSchedule; kubectl taint nodes admin-1 'a b:NoSchedule'; kubectl get node admin-1 -o jsonpath='{.spec.taints}{"\n"}'; kubectl label node admin-1 node-role.kubernetes.io/x=; kubectl get nodes -l pool=admin

kubectl run held --image=a --labels=app=held --overrides='{"spec":{"nodeName":"admin-1"}}'; kubectl create pdb held --selector=app=held --min-available=1; sleep 1; kubectl cordon -l pool=admin; kubectl drain admin-1 --dry-run=client --force; kubectl drain admin-1 --force --timeout=2s --disable-eviction=false 2>&1 | sort -u; kubectl create --raw /api/v1/namespaces/admin/pods/held/eviction -f - <<< '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"held"}}'; kubectl delete pdb held; kubectl drain nosuch; kubectl drain -l pool=nosuch; kubectl uncordon admin-1 admin-2; kubectl delete pod held --force --grace-period=0; kubectl delete nodes -l pool=admin

kubectl get --raw '/api/v1/namespaces/admin/configmaps?limit=1&fieldSelector=metadata.name%3Dgood' | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["kind"], len(d["items"]))'; kubectl get --raw /apis/nosuch; kubectl get --raw /api/v1/namespaces/admin/configmaps/good/nosuch; kubectl delete --raw /api/v1/namespaces/admin/configmaps/nosuch; kubectl replace --raw /api/v1/namespaces/admin/configmaps/good -f - <<< '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"other"}}'; kubectl get --raw '/api/v1/pods?limit=x'; kubectl get --raw /livez; echo; kubectl get --raw '/readyz?exclude=ping'; echo; kubectl get --raw '/api/v1/namespaces/admin/configmaps?resourceVersion=99999999999&resourceVersionMatch=Exact' 2>&1 | sed 's/current: [0-9]*/current: VERSION/'

kubectl proxy --port=0 --reject-paths='^/api/v1/secrets' > proxy.txt & PROXY=$!; until grep -q Starting proxy.txt; do sleep 0.1; done; PORT=$(sed 's/.*://' proxy.txt); python3 - $PORT <<'EOF'
import sys, urllib.request, urllib.error
for path in ("/version", "/api/v1/namespaces/admin/configmaps/good", "/api/v1/secrets", "/nosuch"):
    try:
        print(path, urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}{path}").status)
    except urllib.error.HTTPError as error:
        print(path, error.code)
EOF
kill $PROXY

kubectl get cm -A --sort-by=.metadata.namespace --no-headers -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name | grep kube-root | grep 'admin\|default'; kubectl get cm good -o go-template-file=<(echo '{{range $k, $v := .data}}{{$k}}={{$v}};{{end}}'); echo; kubectl get cm -o jsonpath-file=<(echo '{.items[?(@.metadata.name=="good")].data.a}'); echo; kubectl get cm good -o custom-columns='D:.data[a'; kubectl get cm good -o go-template='{{.nosuch.field}}'; kubectl get cm good -o jsonpath='{.nosuch}' --allow-missing-template-keys=false 2>&1 | sed 's/"resourceVersion":"[0-9]*"//'; kubectl get cm --sort-by=.nosuch; kubectl get cm --sort-by='{[}' ; kubectl get cm good --template='{{.data.a}}'; echo

kubectl get cm good --watch --output-watch-events -o jsonpath='{.type} {.object.data}{"\n"}' --request-timeout=3s > seen.txt & sleep 1; kubectl patch cm good -p '{"data":{"w":"1"}}'; kubectl delete cm good; wait; cat seen.txt

kubectl api-resources --api-group=admin.example.com; kubectl api-resources --verbs=create,nosuch -o name; kubectl api-resources --namespaced=false --categories=api-extensions -o wide; kubectl api-resources --cached --sort-by=name --no-headers | head -3; kubectl api-versions | grep admin; kubectl cluster-info dump --namespaces=admin --output-directory=dump >/dev/null; ls -R dump | sort | head -20

kubectl create namespace admin-gone --dry-run=server -o yaml; kubectl create namespace admin-gone; kubectl create configmap a -n admin-gone; kubectl patch configmap a -n admin-gone --type=merge -p '{"metadata":{"finalizers":["a.example.com/b"]}}'; kubectl delete namespace admin-gone --wait=false; kubectl wait namespace admin-gone --for=condition=NamespaceFinalizersRemaining --timeout=20s; kubectl create configmap b -n admin-gone; kubectl get namespace admin-gone -o yaml | sed '/lastTransitionTime/d'; kubectl describe namespace admin-gone; kubectl patch configmap a -n admin-gone --type=merge -p '{"metadata":{"finalizers":null}}'; kubectl wait namespace admin-gone --for=delete --timeout=30s

kubectl delete crd backups.admin.example.com --timeout=20s; kubectl get bk; kubectl delete clusterrole admin-url admin-sum
