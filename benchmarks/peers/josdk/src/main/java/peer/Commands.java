package peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Version;
import io.javaoperatorsdk.operator.api.config.Utils;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/** Obeys a line of JSON at a time and answers each with a mark, until the input ends. */
final class Commands {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Commands() {}

  /** What is done at a command; returns what its mark tells. */
  interface Command {
    Map<String, ?> run(JsonNode told) throws Exception;
  }

  /** Says that all is ready, and obeys. The process ends with its input. */
  static void serve(Map<String, Command> known) throws Exception {
    mark("ready", Map.of("versions", versions()));
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      var told = MAPPER.readTree(line);
      mark("done", known.get(told.get("do").asText()).run(told));
    }
    System.exit(0); // the clients' threads are no daemons
  }

  private static void mark(String name, Map<String, ?> facts) {
    var told = new HashMap<String, Object>(facts);
    told.put("mark", name);
    try {
      System.out.println(MAPPER.writeValueAsString(told));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static Map<String, String> versions() {
    return Map.of(
        "java-operator-sdk", Utils.VERSION.getSdkVersion(),
        "fabric8", Version.clientVersion(),
        "java", Runtime.version().toString());
  }

  /** Returns what follows a flag, or the default. */
  static String flag(String[] arguments, String name, String otherwise) {
    for (int i = 0; i + 1 < arguments.length; i += 2) {
      if (arguments[i].equals("--" + name)) {
        return arguments[i + 1];
      }
    }
    return otherwise;
  }

  /** Reads again and again for so long, each time with the next number; a read returns how many objects came. */
  static Command timed(IntUnaryOperator read) {
    return told -> {
      long until = System.nanoTime() + (long) (told.get("seconds").asDouble() * 1e9);
      int count = 0;
      long objects = 0;
      while (count == 0 || System.nanoTime() < until) {
        objects += read.applyAsInt(count++);
      }
      return Map.of("count", count, "objects", objects);
    };
  }
}
