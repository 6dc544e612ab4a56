import OrderedCollections

/// Gives services what they take over from others by `extends`.
struct ComposeExtends {
    let loader: ComposeLoader
    let offered: Set<String>

    private struct Base: Equatable {
        let file: String
        let service: String
    }

    /// - Parameter file: the tree of one file; services extend those of the same file, or of another one.
    func resolved(_ file: ComposeNode) -> ComposeNode {
        guard var entries = file.entries, let entry = entries["services"], let services = entry.value.entries else {
            return file
        }
        var resolved = services
        for name in services.keys { resolved[name]?.value = service(name, of: services, file: file.source, chain: []) }
        entries["services"]?.value = entry.value.with(.mapping(resolved))
        return file.with(.mapping(entries))
    }

    private func service(
        _ name: String, of services: ComposeNode.Entries, file: ComposeSource, chain: [Base]
    ) -> ComposeNode {
        let node = services[name]?.value ?? ComposeNode(source: file, line: 1, content: .null)
        guard var entries = node.entries, let extends = entries.removeValue(forKey: "extends")?.value else {
            return node
        }
        let own = node.with(.mapping(entries))
        let chain = chain + [Base(file: file.name, service: name)]
        guard let base = base(extends, services: services, chain: chain) else { return own }
        // What it has taken over lies elsewhere; it itself does not.
        return own.with(base.overridden(by: own).content)
    }

    private func base(_ extends: ComposeNode, services: ComposeNode.Entries, chain: [Base]) -> ComposeNode? {
        let reader = loader.reader
        let findings = loader.findings
        guard let options = reader.mapping(extends, "'extends'") else { return nil }
        findings.check(options, against: .extends, in: "'extends'")
        guard let node = options["service"]?.value, let name = reader.scalar(node, "'service' of 'extends'") else {
            findings.report("'extends' has no 'service'", at: extends.place)
            return nil
        }
        var (services, file) = (services, extends.source)
        if let other = options["file"]?.value {
            guard let tree = tree(other) else { return nil }
            (services, file) = (tree.entries?["services"]?.value.entries ?? [:], tree.source)
        }
        if let start = chain.firstIndex(of: Base(file: file.name, service: name.text)) {
            let way = (chain[start...].map(\.service) + [name.written]).joined(separator: " → ")
            findings.report("services extend each other: \(way)", at: extends.place)
            return nil
        }
        guard services[name.text] != nil else {
            let near = name.text.nearest(of: services.keys).map { "did you mean '\($0)'?" }
            findings.report("there is no service '\(name.written)' to extend", at: node.place, hint: near)
            return nil
        }
        return service(name.text, of: services, file: file, chain: chain)
    }

    private func tree(_ node: ComposeNode) -> ComposeNode? {
        guard let path = loader.reader.scalar(node, "'file' of 'extends'") else { return nil }
        let place = node.source.directory.resolving(path.text)
        guard let text = loader.text(of: place, node) else { return nil }
        let source = ComposeSource(name: place.shown, directory: place.directory, environment: node.source.environment)
        let root = YAMLText.parse(text.text, file: source.name, findings: loader.findings)
        return root.map { loader.tree(of: .init(source: source, root: $0), offered: offered) { $0 == "services" } }
    }
}
