//! A peer of pyctrl's benchmarks: kube-rs's reflector with a typed kind, as its examples have it.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::{self, Lookup, ObjectRef, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Config, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(
    group = "benchmarks.example.com",
    version = "v1",
    kind = "Widget",
    namespaced,
    status = "WidgetStatus"
)]
struct WidgetSpec {
    image: String,
    pool: String,
    #[serde(default)]
    replicas: i32,
    #[serde(default)]
    env: Vec<Setting>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
struct Setting {
    name: String,
    #[serde(default)]
    value: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WidgetStatus {
    #[serde(default)]
    phase: String,
    #[serde(default)]
    ready_replicas: i32,
    #[serde(default)]
    conditions: Vec<WidgetCondition>,
    #[serde(default)]
    endpoints: Vec<Endpoint>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WidgetCondition {
    #[serde(rename = "type")]
    type_: String,
    status: String,
    reason: String,
    message: String,
    last_transition_time: String,
    observed_generation: Option<i64>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
struct Endpoint {
    host: String,
    port: i32,
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    zone: String,
}

/// What the one subscriber has seen.
#[derive(Default)]
struct Seen {
    version: AtomicU64,
    news: Notify,
}

impl Seen {
    async fn wait_for(&self, version: u64) {
        loop {
            let news = self.news.notified();
            if self.version.load(Ordering::Acquire) >= version {
                return;
            }
            news.await;
        }
    }
}

fn mark(name: &str, mut facts: Value) {
    facts["mark"] = json!(name);
    println!("{facts}");
    std::io::stdout().flush().expect("stdout is open");
}

/// Reads again and again for so long, each time with the next number.
fn timed(seconds: f64, mut read: impl FnMut(usize) -> usize) -> Value {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let (mut count, mut objects) = (0, 0);
    while count == 0 || Instant::now() < until {
        objects += read(count);
        count += 1;
    }
    json!({"count": count, "objects": objects})
}

async fn follow<K>(client: Client, writer: reflector::store::Writer<K>, is_streamed: bool, seen: Arc<Seen>)
where
    K: Resource<DynamicType = ()>
        + Lookup<DynamicType = ()>
        + Clone
        + DeserializeOwned
        + std::fmt::Debug
        + Send
        + 'static,
{
    let config = watcher::Config::default();
    let config = if is_streamed { config.streaming_lists() } else { config };
    let events = watcher(Api::<K>::all(client), config)
        .default_backoff()
        .reflect(writer)
        .applied_objects();
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        if let Ok(object) = event {
            let version = ResourceExt::resource_version(&object)
                .and_then(|v| v.parse().ok())
                .unwrap_or(0);
            seen.version.fetch_max(version, Ordering::AcqRel);
            seen.news.notify_one();
        }
    }
}

/// Serves the work of one kind; `read` does what only custom resources are asked for.
async fn serve<K>(client: Client, is_streamed: bool, read: impl Fn(&Store<K>, &str, f64) -> Value)
where
    K: Resource<DynamicType = ()>
        + Lookup<DynamicType = ()>
        + Clone
        + DeserializeOwned
        + std::fmt::Debug
        + Send
        + Sync
        + 'static,
{
    let seen = Arc::new(Seen::default());
    let (store, writer) = reflector::store::<K>();
    let mut writer = Some(writer);
    mark(
        "ready",
        json!({"versions": {"kube": env!("KUBE_VERSION"), "rust": env!("RUST_VERSION")}}),
    );
    let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    while let Some(line) = lines.recv().await {
        let told: Value = serde_json::from_str(&line).expect("commands are JSON");
        match told["do"].as_str().unwrap_or_default() {
            "sync" => {
                let writer = writer.take().expect("told to sync once");
                tokio::spawn(follow(client.clone(), writer, is_streamed, seen.clone()));
                store.wait_until_ready().await.expect("the writer lives");
                mark("done", json!({"objects": store.len()}));
            }
            "follow" => {
                seen.wait_for(told["until"].as_u64().unwrap_or(0)).await;
                mark("done", json!({"objects": store.len()}));
            }
            name => mark("done", read(&store, name, told["seconds"].as_f64().unwrap_or(1.0))),
        }
    }
}

/// Gets and lists copies, as who wants to change them has to; the store has no indexes.
fn read_widgets(store: &Store<Widget>, name: &str, seconds: f64) -> Value {
    let keys: Vec<ObjectRef<Widget>> = store
        .state()
        .iter()
        .map(|widget| ObjectRef::from_obj(widget.as_ref()))
        .collect();
    timed(seconds, |number| match name {
        "get" => store
            .get(&keys[number % keys.len()])
            .map(|widget| (*widget).clone())
            .iter()
            .count(),
        "label" => {
            let has = |widget: &Widget| widget.labels().get("batch").is_some_and(|batch| batch == "b-0");
            store
                .state()
                .iter()
                .filter(|widget| has(widget))
                .map(|widget| (**widget).clone())
                .collect::<Vec<_>>()
                .len()
        }
        _ => {
            let has = |widget: &Widget| widget.spec.pool == "p-0";
            store
                .state()
                .iter()
                .filter(|widget| has(widget))
                .map(|widget| (**widget).clone())
                .collect::<Vec<_>>()
                .len()
        }
    })
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let told: HashMap<&str, &str> = words
        .chunks_exact(2)
        .map(|pair| (pair[0].trim_start_matches('-'), pair[1].as_str()))
        .collect();
    let client = Client::try_from(Config::new(told["server"].parse().expect("a URL"))).expect("a client");
    let is_streamed = told.get("lists") == Some(&"stream");
    match told.get("kind") {
        Some(&"pods") => serve::<Pod>(client, is_streamed, |_, _, _| json!({})).await,
        _ => serve::<Widget>(client, is_streamed, read_widgets).await,
    }
}
