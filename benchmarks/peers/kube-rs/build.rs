//! Tells the program its versions: that of the compiler, and that of kube in the lock file.

use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let said = Command::new(compiler)
        .arg("--version")
        .output()
        .map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned());
    println!("cargo::rustc-env=RUST_VERSION={}", said.unwrap_or_default());
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    let version = lock
        .split("name = \"kube\"\nversion = \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    println!("cargo::rustc-env=KUBE_VERSION={}", version.unwrap_or("unknown"));
    println!("cargo::rerun-if-changed=Cargo.lock");
}
