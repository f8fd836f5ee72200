package peer;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.ArrayList;
import java.util.List;

/** That of examples/podset. */
@Group("apps.jicki.cn")
@Version("v1alpha1")
public class PodSet extends CustomResource<PodSet.Spec, PodSet.Status> implements Namespaced {

  @Override
  protected Status initStatus() {
    return new Status();
  }

  public static class Spec {
    public int size;
  }

  public static class Status {
    public List<String> nodes = new ArrayList<>();
  }
}
