package peer;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.ArrayList;
import java.util.List;

/** The custom resource of every peer. */
@Group("benchmarks.example.com")
@Version("v1")
public class Widget extends CustomResource<Widget.Spec, Widget.Status> implements Namespaced {

  public static class Spec {
    public String image;
    public String pool;
    public int replicas;
    public List<Setting> env = new ArrayList<>();
  }

  public static class Setting {
    public String name;
    public String value;
  }

  public static class Status {
    public String phase;
    public int readyReplicas;
    public List<Condition> conditions = new ArrayList<>();
    public List<Endpoint> endpoints = new ArrayList<>();
  }

  public static class Endpoint {
    public String host;
    public int port;
    public boolean ready;
    public String zone;
  }
}
