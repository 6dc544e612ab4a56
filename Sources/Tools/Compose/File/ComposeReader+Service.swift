import Yams

extension ComposeReader {
    mutating func services(_ node: Node) -> [Service] {
        guard let entries = mapping(node, "'services'") else { return [] }
        if entries.isEmpty { report("'services' is empty", at: node, hint: "list the processes to run under it") }
        let ordered = entries.sorted { ($0.value.key.mark?.line ?? 0, $0.key) < ($1.value.key.mark?.line ?? 0, $1.key) }
        let services = ordered.compactMap { name, entry in service(name, entry.value, key: entry.key) }
        checkDependencies(of: services, in: entries)
        return services
    }

    private mutating func service(_ name: String, _ node: Node, key: Node) -> Service? {
        if !Service.isValid(name: name) {
            report("'\(name)' is not a service name", at: key, hint: Service.nameRule)
        }
        let place = "service '\(name)'"
        guard let entries = mapping(node, place) else { return nil }
        check(entries, against: .service, in: place)
        var service = Service(name: name, command: command(entries, of: place, key: key))
        service.workingDirectory = entries["working_dir"].flatMap { string($0.value, "'working_dir' of \(place)") }
        service.environment = environment(entries, of: place)
        service.dependencies = entries["depends_on"].map { dependencies($0.value, of: place) } ?? []
        service.restart = entries["restart"].flatMap { restart($0.value, of: place) } ?? .no
        service.readiness = entries["healthcheck"].map { readiness($0.value, of: place) } ?? .started
        service.stopSignal = entries["stop_signal"].flatMap { stopSignal($0.value, of: place) } ?? .terminate
        if let grace = entries["stop_grace_period"] {
            service.stopGracePeriod = duration(grace.value, "'stop_grace_period' of \(place)") ?? .seconds(10)
        }
        service.labels = entries["labels"].map { pairs($0.value, "'labels' of \(place)").mapValues { $0 ?? "" } } ?? [:]
        return service
    }

    private mutating func command(_ entries: Entries, of place: String, key: Node) -> [String] {
        let parts = ["entrypoint", "command"].flatMap { name in
            entries[name].map { words($0.value, "'\(name)' of \(place)") } ?? []
        }
        if entries["command"] == nil, entries["entrypoint"] == nil {
            report("\(place) has no 'command'", at: key, hint: "name the executable to run and its arguments")
        }
        return parts
    }

    mutating func clients(_ node: Node) -> [[String]] {
        guard let sequence = node.sequence else {
            report(
                "'x-clients' is not a list", at: node, hint: "list commands, as in 'x-clients: [device --platform ios]'"
            )
            return []
        }
        return sequence.map { words($0, "a command of 'x-clients'") }.filter { !$0.isEmpty }
    }

    private mutating func words(_ node: Node, _ what: String) -> [String] {
        if node.sequence != nil { return strings(node, what) ?? [] }
        guard let text = string(node, what) else { return [] }
        guard let words = ShellWords.split(text), !words.isEmpty else {
            report("\(what) is empty, or a quote in it is not closed", at: node)
            return []
        }
        return words
    }

    /// A variable without a value is the supervisor's own: it is passed on in any case, so there is nothing to set.
    private mutating func environment(_ entries: Entries, of place: String) -> [String: String?] {
        guard let node = entries["environment"]?.value else { return [:] }
        return pairs(node, "'environment' of \(place)").filter { $0.value != nil }
    }

    private mutating func restart(_ node: Node, of place: String) -> RestartPolicy? {
        guard let text = string(node, "'restart' of \(place)") else { return nil }
        let policy = RestartPolicy(text)
        if policy == nil {
            let hint = "use no, always, on-failure, on-failure:N or unless-stopped"
            report("'restart' of \(place) is '\(text)'", at: node, hint: hint)
        }
        return policy
    }

    private mutating func stopSignal(_ node: Node, of place: String) -> StopSignal? {
        guard let text = string(node, "'stop_signal' of \(place)") else { return nil }
        let signal = StopSignal(text)
        if signal == nil {
            report("'stop_signal' of \(place): no signal is called '\(text)'", at: node, hint: "for example SIGINT")
        }
        return signal
    }

    /// `test: [NOTIFY]` is ours: the service itself tells when it is ready, as sd_notify defines it.
    private mutating func readiness(_ node: Node, of place: String) -> Readiness {
        let what = "'healthcheck' of \(place)"
        guard let entries = mapping(node, what) else { return .started }
        check(entries, against: .healthcheck, in: what)
        if let disable = entries["disable"], string(disable.value, "'disable' in \(what)") == "true" { return .started }
        let timeout = entries["start_period"].flatMap { duration($0.value, "'start_period' in \(what)") }
        let test = entries["test"].flatMap { entry in
            entry.value.sequence == nil ? string(entry.value, what).map { [$0] } : strings(entry.value, what)
        }
        switch test {
        case ["NONE"]: return .started
        case ["NOTIFY"]: return .notify(timeout: timeout)
        default:
            let hint = "a service announces itself with READY=1 on $NOTIFY_SOCKET; write 'test: [NOTIFY]'"
            report("'test' in \(what) is neither [NOTIFY] nor [NONE]", at: node, hint: hint)
            return .started
        }
    }
}
