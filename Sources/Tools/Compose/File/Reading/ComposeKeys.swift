/// The keys of the compose specification at one place of a file: those that are read, and why the others are not.
struct ComposeKeys {
    let known: Set<String>
    /// Senseless for plain processes, each with what to do instead.
    var containersOnly: [String: String] = [:]
    /// They would make sense; each with what to do instead.
    var unsupported: [String: String] = [:]

    static let root = ComposeKeys(
        known: ["name", "services", "include"],
        containersOnly: [
            "networks": "services are plain processes on this host",
            "volumes": "use a plain folder, or $SEGUE_STATE_DIR",
            "configs": "use a plain file",
            "secrets": "use a file that only its owner may read",
        ],
        unsupported: [
            "version": "leave it out, the specification has no versions any more",
            "models": "start the model's server as a service",
        ]
    )

    static let include = ComposeKeys(known: ["path", "project_directory", "env_file"])
    static let extends = ComposeKeys(known: ["service", "file"])
    static let envFile = ComposeKeys(known: ["path", "required", "format"])
    static let dependency = ComposeKeys(known: ["condition", "required", "restart"])

    static let healthcheck = ComposeKeys(
        known: ["test", "interval", "timeout", "retries", "start_period", "start_interval", "disable"])

    static let restartPolicy = ComposeKeys(known: ["condition", "delay", "max_attempts", "window"])

    static let deploy = ComposeKeys(
        known: ["replicas", "restart_policy"],
        containersOnly: table([
            (["mode", "endpoint_mode", "placement"], "all runs on this host, so many times as 'replicas' says"),
            (["rollback_config", "update_config"], "'segue restart' restarts a service"),
        ]),
        unsupported: table([
            (["labels"], "use the service's 'labels'"),
            (["resources"], ComposeKeys.limits),
        ])
    )

    static let limits = "'segue export systemd' makes units, where you can set limits"

    static func table(_ hints: [(keys: [String], hint: String)]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: hints.flatMap { entry in entry.keys.map { ($0, entry.hint) } })
    }
}
