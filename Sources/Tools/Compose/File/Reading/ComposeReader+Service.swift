import OrderedCollections

extension ComposeReader {
    private static let mostReplicas = 1000

    /// - Parameter stack: without services.
    func service(_ name: String, _ entry: ComposeNode.Entry, of stack: Stack) -> Service? {
        if !Service.isValid(name: name) {
            report("'\(name)' is not a service name", at: entry.key, hint: Service.nameRule)
        }
        let place = "service '\(name)'"
        guard let entries = mapping(entry.value, place) else { return nil }
        findings.check(entries, against: .service, in: place)
        let command = command(entries, of: place, key: entry.key)
        notePlaces(entries, of: name)
        var service = Service(name: name, command: command)
        service.workingDirectory = directory(entries, of: place) ?? ownFolder(of: entry.value, in: stack)
        let offered = OfferedVariables.names(ports: stack.ports)
        service.environment = environment(entries, of: place).filter { $0.value != nil || !offered.contains($0.key) }
        service.dependencies = dependencies(entries, of: place)
        service.readiness = readiness(entries, of: place)
        service.watchdog = watchdog(entries, of: place)
        service.profiles = profiles(entries, of: place)
        service.labels = labels(entries, of: place)
        service.stopSignal = stopSignal(entries, of: place)
        if let grace = duration("stop_grace_period", in: entries, of: place) { service.stopGracePeriod = grace }
        deploy(&service, entries, of: place)
        return service
    }

    /// The executable stands in `entrypoint`, if there is one.
    private func notePlaces(_ entries: ComposeNode.Entries, of name: String) {
        for key in ["working_dir", "command", "entrypoint", "healthcheck"] {
            guard let entry = entries[key], !entry.value.isNull else { continue }
            let known = key == "entrypoint" ? "command" : key
            findings.note(ServiceKey(service: name, name: known), at: entry.value.place)
        }
    }

    private func command(_ entries: ComposeNode.Entries, of place: String, key: ComposePlace) -> [String] {
        let given = ["entrypoint", "command"].compactMap { name in
            entries[name].flatMap { $0.value.isNull ? nil : (name, $0.value) }
        }
        let parts = given.flatMap { words($0.1, "'\($0.0)' of \(place)") }
        if given.isEmpty {
            report("\(place) has no 'command'", at: key, hint: "name the executable to run and its arguments")
        } else if let node = given.first?.1, node.namesNothing {
            report("'\(given[0].0)' of \(place) names no executable", at: node.place)
        }
        return parts
    }

    func clients(_ nodes: [ComposeNode]) -> [[String]] {
        nodes.map { words($0, "a command of 'x-clients'") }.filter { !$0.isEmpty }
    }

    private func words(_ node: ComposeNode, _ what: String) -> [String] {
        if node.list != nil { return strings(node, what) }
        guard let text = scalar(node, what)?.text else { return [] }
        guard let words = ShellWords.split(text), !words.isEmpty else {
            report("\(what) is empty, or a quote in it is not closed", at: node.place)
            return []
        }
        return words
    }

    /// Relative to the folder of the file that says it, unless that is known only when the service starts.
    private func directory(_ entries: ComposeNode.Entries, of place: String) -> String? {
        guard let entry = entries["working_dir"], !entry.value.isNull else {
            return nil
        }
        guard let text = scalar(entry.value, "'working_dir' of \(place)")?.text else { return nil }
        return text.hasPrefix("${SEGUE_STATE_DIR}") ? text : entry.value.source.directory.resolving(text).absolute
    }

    /// Of an included file.
    private func ownFolder(of node: ComposeNode, in stack: Stack) -> String? {
        let folder = node.source.directory.absolute
        return folder == stack.directory ? nil : folder
    }

    private func stopSignal(_ entries: ComposeNode.Entries, of place: String) -> StopSignal {
        value("stop_signal", in: entries, of: place, hint: "write a signal's name like SIGINT") { StopSignal($0) }
            ?? .terminate
    }

    private func watchdog(_ entries: ComposeNode.Entries, of place: String) -> Duration? {
        let watchdog = duration("x-watchdog", in: entries, of: place)
        guard let node = entries["x-watchdog"]?.value, watchdog == .zero else { return watchdog }
        report("'x-watchdog' of \(place) is no time at all", at: node.place, hint: "leave it out for none")
        return nil
    }

    private func profiles(_ entries: ComposeNode.Entries, of place: String) -> [String] {
        guard let node = entries["profiles"]?.value else { return [] }
        return list(node, "'profiles' of \(place)").compactMap { node in
            guard let name = scalar(node, "an entry of 'profiles' of \(place)") else { return nil }
            if Service.isValid(name: name.text) { return name.text }
            report("'\(name.written)' of \(place) is not a profile's name", at: node.place, hint: Service.nameRule)
            return nil
        }
    }

    private func labels(_ entries: ComposeNode.Entries, of place: String) -> [String: String] {
        guard let node = entries["labels"]?.value, !node.isNull else { return [:] }
        let labels = mapping(node, "'labels' of \(place)") ?? [:]
        let pairs = labels.map { name, entry in
            (
                name,
                entry.value.isNull ? "" : scalar(entry.value, "'\(entry.written)' in 'labels' of \(place)")?.text ?? ""
            )
        }
        return Dictionary(pairs) { _, last in last }
    }

    /// `scale` is the older spelling of `deploy.replicas`.
    private func deploy(_ service: inout Service, _ entries: ComposeNode.Entries, of place: String) {
        let what = "'deploy' of \(place)"
        let node = entries["deploy"]?.value
        let deploy = node.flatMap { $0.isNull ? nil : mapping($0, what) } ?? [:]
        findings.check(deploy, against: .deploy, in: what)
        let scale = count("scale", in: entries, of: place, to: Self.mostReplicas)
        let replicas = count("replicas", in: deploy, of: what, to: Self.mostReplicas)
        if let scale, let replicas, scale != replicas, let node = deploy["replicas"]?.value {
            report("'scale' of \(place) is another number than 'replicas'", at: node.place, hint: "leave out 'scale'")
        }
        service.replicas = replicas ?? scale ?? 1
        restart(&service, entries, policy: deploy["restart_policy"]?.value, of: place)
    }
}

extension ComposeNode {
    /// Whether it is a list of words without a first one.
    fileprivate var namesNothing: Bool {
        guard let list else { return false }
        return list.first.map { $0.scalar?.text.isEmpty ?? true && $0.scalar?.isUnknown != true } ?? true
    }
}
