import OrderedCollections

/// Makes a stack of the tree of its files, and reports what in it cannot be meant.
struct ComposeReader {
    let findings: ComposeFindings

    /// - Parameters:
    ///   - ports: the entries of `x-ports`.
    ///   - directory: the stack's.
    func stack(_ root: ComposeNode, ports: [ComposeNode], directory: String) -> Stack {
        var stack = Stack(directory: directory, services: [])
        stack.ports = self.ports(ports)
        guard let entries = mapping(root, "the file") else { return stack }
        stack.name = entries["name"].flatMap { name($0.value) }
        if let services = entries["services"] {
            stack.services = self.services(services.value, offered: OfferedVariables.names(ports: stack.ports))
        } else {
            report("there is no 'services'", at: root.place, hint: "list the processes to run under it")
        }
        return stack
    }

    func name(_ node: ComposeNode) -> String? {
        guard let name = scalar(node, "name") else { return nil }
        if ProjectName.isValid(name.text) { return name.text }
        report("'\(name.written)' is not a project name", at: node.place, hint: ProjectName.rule)
        return nil
    }

    /// The names, each once: an included file may well ask for the same port.
    func ports(_ nodes: [ComposeNode]) -> [String] {
        var names: [String] = []
        for node in nodes {
            guard let name = scalar(node, "an entry of 'x-ports'"), !names.contains(name.text) else { continue }
            if OfferedVariables.portVariable(name.text) == nil {
                let hint = "use letters, digits, '-' and '_'"
                report("'\(name.written)' in 'x-ports' is not a name", at: node.place, hint: hint)
            }
            names.append(name.text)
        }
        return names
    }

    private func services(_ node: ComposeNode, offered: Set<String>) -> [Service] {
        guard let entries = mapping(node, "'services'") else { return [] }
        if entries.isEmpty {
            report("'services' is empty", at: node.place, hint: "list the processes to run under it")
        }
        let services = entries.compactMap { service($0.key, $0.value, offered: offered) }
        checkDependencies(of: services, in: entries)
        checkInstances(of: services, in: entries)
        return services
    }

    /// Each process must have a name of its own.
    private func checkInstances(of services: [Service], in entries: ComposeNode.Entries) {
        for service in services where service.replicas > 1 {
            for name in service.instances {
                guard let entry = entries[name] else { continue }
                report(
                    "'\(name)' is a process of service '\(service.name)', too", at: entry.key,
                    hint: "give the service another name")
            }
        }
    }

    func report(_ message: String, at place: ComposePlace, hint: String? = nil) {
        findings.report(message, at: place, hint: hint)
    }
}
