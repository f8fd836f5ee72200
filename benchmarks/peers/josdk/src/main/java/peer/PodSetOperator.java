package peer;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The PodSet operator on the Java Operator SDK, with its defaults. KUBECONFIG has the cluster. */
public final class PodSetOperator {
  private PodSetOperator() {}

  public static void main(String[] arguments) throws Exception {
    int workers = Integer.parseInt(Commands.flag(arguments, "workers", "1"));
    var config = new ConfigBuilder().withOnlyHttpWatches(true).build(); // else by websockets
    var client = new KubernetesClientBuilder().withConfig(config).build();
    var operator =
        new Operator(told -> told.withKubernetesClient(client).withConcurrentReconciliationThreads(workers));
    var arrivals = new Arrivals();
    operator.register(new PodSetReconciler(arrivals));
    Commands.serve(
        Map.of(
            "start",
            told -> {
              operator.start();
              return Map.of();
            },
            "latencies",
            told -> Map.of("nanoseconds", arrivals.take())));
  }

  /** Has a Deployment of the PodSet's size, and the names of its pods in the status; writes what differs. */
  @ControllerConfiguration
  public static final class PodSetReconciler implements Reconciler<PodSet> {
    private static final Logger LOG = LoggerFactory.getLogger(PodSetReconciler.class);
    private final Arrivals arrivals;
    private InformerEventSource<Deployment, PodSet> deployments;

    PodSetReconciler(Arrivals arrivals) {
      this.arrivals = arrivals;
    }

    @Override
    public List<EventSource<?, PodSet>> prepareEventSources(EventSourceContext<PodSet> context) {
      var owned = InformerEventSourceConfiguration.from(Deployment.class, PodSet.class).build();
      var labelled =
          InformerEventSourceConfiguration.from(Pod.class, PodSet.class)
              .withSecondaryToPrimaryMapper(PodSetReconciler::podSetOf)
              .build();
      deployments = new InformerEventSource<>(owned, context);
      return List.of(deployments, new InformerEventSource<>(labelled, context));
    }

    private static Set<ResourceID> podSetOf(Pod pod) {
      var labels = pod.getMetadata().getLabels();
      var name = labels == null ? null : labels.get("podSet_cr");
      return name == null ? Set.of() : Set.of(new ResourceID(name, pod.getMetadata().getNamespace()));
    }

    @Override
    public UpdateControl<PodSet> reconcile(PodSet podset, Context<PodSet> context) {
      arrivals.note(podset);
      scale(podset, context);
      var names =
          context.getSecondaryResources(Pod.class).stream()
              .filter(pod -> !pod.isMarkedForDeletion())
              .map(pod -> pod.getMetadata().getName())
              .sorted()
              .toList();
      return names.equals(podset.getStatus().nodes)
          ? UpdateControl.noUpdate()
          : UpdateControl.patchStatus(reported(podset, names));
    }

    /** The cache is told of what was written, as the SDK's own dependent resources do, so that no read is behind it. */
    private void scale(PodSet podset, Context<PodSet> context) {
      int size = podset.getSpec().size;
      var id = ResourceID.fromResource(podset);
      var found = context.getSecondaryResource(Deployment.class);
      if (found.isEmpty()) {
        LOG.info("created deployment {} with {} replicas", id, size);
        deployments.handleRecentResourceCreate(id, context.getClient().resource(deploymentFor(podset)).create());
      } else if (found.get().getSpec().getReplicas() != size) {
        LOG.info("scaled deployment {} to {} replicas", id, size);
        var wanted = found.get().edit().editSpec().withReplicas(size).endSpec().build();
        deployments.handleRecentResourceUpdate(id, context.getClient().resource(wanted).update(), found.get());
      }
    }

    /** Returns what is applied: nothing but what this operator says. */
    private static PodSet reported(PodSet podset, List<String> names) {
      var applied = new PodSet();
      var meta = podset.getMetadata();
      applied.setMetadata(
          new ObjectMetaBuilder().withName(meta.getName()).withNamespace(meta.getNamespace()).build());
      applied.setSpec(null);
      applied.getStatus().nodes = names;
      return applied;
    }
  }

  private static Deployment deploymentFor(PodSet podset) {
    var meta = podset.getMetadata();
    var labels = Map.of("app", "podSet", "podSet_cr", meta.getName());
    var owner =
        new OwnerReferenceBuilder()
            .withApiVersion(podset.getApiVersion())
            .withKind(podset.getKind())
            .withName(meta.getName())
            .withUid(meta.getUid())
            .withController(true)
            .withBlockOwnerDeletion(true)
            .build();
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName(meta.getName())
        .withNamespace(meta.getNamespace())
        .withOwnerReferences(owner)
        .endMetadata()
        .withNewSpec()
        .withReplicas(podset.getSpec().size)
        .withNewSelector()
        .withMatchLabels(labels)
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("podset")
        .withImage("busybox")
        .withCommand("sleep", "3600")
        .addNewPort()
        .withName("podset")
        .withContainerPort(1234)
        .endPort()
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  /** The nanoseconds from writes to the first reconcile that saw them. Java's clock is Linux's monotonic one. */
  private static final class Arrivals {
    private final Map<String, String> last = new HashMap<>();
    private List<Long> latencies = new ArrayList<>();

    synchronized void note(PodSet podset) {
      var annotations = podset.getMetadata().getAnnotations();
      var written = annotations == null ? null : annotations.get("benchmarks/written");
      if (written != null && !written.equals(last.put(podset.getMetadata().getName(), written))) {
        latencies.add(System.nanoTime() - Long.parseLong(written));
      }
    }

    /** Returns what was noted since it was called last. */
    synchronized List<Long> take() {
      var taken = latencies;
      latencies = new ArrayList<>();
      return taken;
    }
  }
}
