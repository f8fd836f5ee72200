package peer;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * A peer of pyctrl's benchmarks: the Java Operator SDK with its defaults. The cache is an informer of the fabric8 client,
 * made as the SDK makes those of its event sources, and read as these read it: objects are shared, since 5.0 the SDK
 * copies none of them unless told to, which -Dcopies=true is here. What a reconciler gets is a copy, which the SDK
 * makes by way of JSON.
 */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    var config = new ConfigBuilder(Config.empty()); // without a kubeconfig that happens to be there
    config.withMasterUrl(Commands.flag(arguments, "server", "")).withOnlyHttpWatches(true); // else by websockets
    var client = new KubernetesClientBuilder().withConfig(config.build()).build();
    String work = Commands.flag(arguments, "work", "");
    if (work.equals("reconcile")) {
      int workers = Integer.parseInt(Commands.flag(arguments, "workers", "1"));
      reconcileAll(client, Integer.parseInt(Commands.flag(arguments, "objects", "0")), workers);
      return;
    }
    boolean arePods = Commands.flag(arguments, "kind", "widgets").equals("pods");
    if (arePods) {
      readAll(client, Pod.class, false);
    } else {
      readAll(client, Widget.class, work.equals("reads"));
    }
  }

  /** Serves the work with the cache: one informer with one handler, as a controller has it. */
  private static <T extends HasMetadata> void readAll(KubernetesClient client, Class<T> kind, boolean withIndex)
      throws Exception {
    SharedIndexInformer<T> informer = client.resources(kind).inAnyNamespace().runnableInformer(0);
    var seen = new Seen<T>();
    informer.addEventHandler(seen);
    if (withIndex) {
      informer.addIndexers(Map.of("pool", object -> List.of(((Widget) object).getSpec().pool)));
    }
    boolean areCopies = Boolean.getBoolean("copies"); // as withCloneSecondaryResourcesWhenGettingFromCache does
    var reads = new Reads<T>(informer, areCopies ? client.getKubernetesSerialization()::clone : object -> object);
    Commands.serve(
        Map.of(
            "sync",
            told -> {
              informer.start().toCompletableFuture().join();
              return seen.waitFor(0, informer.getStore().list().size());
            },
            "follow",
            told -> seen.waitFor(told.get("until").asLong(), 0),
            "get",
            reads::get,
            "label",
            Commands.timed(number -> reads.label()),
            "index",
            Commands.timed(number -> reads.index())));
  }

  /** Reads of an informer's store, and what is done with each object that is read. */
  private record Reads<T extends HasMetadata>(SharedIndexInformer<T> informer, UnaryOperator<T> given) {

    Map<String, ?> get(JsonNode told) throws Exception {
      var keys = informer.getStore().listKeys();
      var read = Commands.timed(n -> count(Stream.of(informer.getStore().getByKey(keys.get(n % keys.size())))));
      return read.run(told);
    }

    /** Looks through all, as the SDK's own `list(predicate)` does. */
    int label() {
      return count(
          informer.getStore().list().stream()
              .filter(object -> "b-0".equals(object.getMetadata().getLabels().get("batch"))));
    }

    int index() {
      return count(informer.getIndexer().byIndex("pool", "p-0").stream());
    }

    private int count(Stream<T> found) {
      return found.map(given).toList().size();
    }
  }

  /** Counts objects and remembers the last version that the handler was told of. */
  private static final class Seen<T extends HasMetadata> implements ResourceEventHandler<T> {
    private int objects;
    private long version;

    @Override
    public void onAdd(T object) {
      take(object, 1);
    }

    @Override
    public void onUpdate(T before, T object) {
      take(object, 0);
    }

    @Override
    public void onDelete(T object, boolean isStateUnknown) {
      take(object, -1);
    }

    private synchronized void take(T object, int added) {
      objects += added;
      version = Math.max(version, Long.parseLong(object.getMetadata().getResourceVersion()));
      notifyAll();
    }

    synchronized Map<String, ?> waitFor(long wanted, int count) throws InterruptedException {
      while (version < wanted || objects < count) {
        wait();
      }
      return Map.of("objects", objects);
    }
  }

  /** Serves the work with a controller: all objects once, and then again after each has changed. */
  private static void reconcileAll(KubernetesClient client, int objects, int workers) throws Exception {
    var operator =
        new Operator(told -> told.withKubernetesClient(client).withConcurrentReconciliationThreads(workers));
    var reconciler = new NoOp();
    operator.register(reconciler);
    Commands.serve(
        Map.of(
            "sync",
            told -> {
              operator.start();
              return reconciler.waitFor(objects);
            },
            "follow",
            told -> reconciler.waitFor(2 * objects)));
  }

  /** Does nothing and counts how often. By default changes of the status, as these are, would be passed over. */
  @ControllerConfiguration(generationAwareEventProcessing = false)
  public static final class NoOp implements Reconciler<Widget> {
    private int count;

    @Override
    public synchronized UpdateControl<Widget> reconcile(Widget widget, Context<Widget> context) {
      count++;
      notifyAll();
      return UpdateControl.noUpdate();
    }

    synchronized Map<String, ?> waitFor(int wanted) throws InterruptedException {
      while (count < wanted) {
        wait();
      }
      return Map.of("objects", count);
    }
  }
}
