import OrderedCollections

/// The long form of what the specification lets one write in a short one, so that the rest knows one form only, and so
/// that two files which use different forms merge. What has no known form stays as it is, for the reader to refuse.
extension ComposeNode {
    /// Of a whole file.
    var canonicalFile: ComposeNode {
        changing("include") { $0.asList.changingElements { $0.asMapping("path").changing("path", \.asList) } }
            .changing("services") { services in
                services.changingValues { service in
                    service.changing("environment", \.asPairs)
                        .changing("labels", \.asPairs)
                        .changing("depends_on", \.asDependencies)
                        .changing("env_file") { $0.asList.changingElements { $0.asMapping("path") } }
                        .changing("extends") { $0.asMapping("service") }
                        .changing("healthcheck") { $0.changing("test", \.asTest) }
                }
            }
    }

    private var asList: ComposeNode { scalar == nil && entries == nil ? self : with(.list([self])) }

    private func asMapping(_ key: String) -> ComposeNode {
        scalar == nil ? self : with(.mapping([key: Entry(key: place, written: key, value: self)]))
    }

    /// `[A=1, B]` becomes `{A: "1", B: null}`.
    private var asPairs: ComposeNode {
        asMapping { scalar in
            let (text, written) = (scalar.text.splitAtEquals, scalar.written.splitAtEquals)
            let value = text.value.map { Scalar(text: $0, written: written.value ?? scalar.written) }
            return (Scalar(text: text.name, written: written.name), value.map(Content.scalar) ?? .null)
        }
    }

    private var asDependencies: ComposeNode {
        let started = Dependency.Condition.started.rawValue
        return asMapping { name in
            let condition = with(.scalar(Scalar(text: started, written: started)))
            return (name, .mapping(["condition": Entry(key: place, written: "condition", value: condition)]))
        }
    }

    /// A list of plain values as a mapping.
    private func asMapping(_ entry: (Scalar) -> (key: Scalar, content: Content)) -> ComposeNode {
        guard let list, list.allSatisfy({ $0.scalar != nil }) else { return self }
        var entries: Entries = [:]
        for node in list {
            guard let (key, content) = node.scalar.map(entry) else { continue }
            entries[key.text] = Entry(key: node.place, written: key.written, value: node.with(content))
        }
        return with(.mapping(entries))
    }

    private var asTest: ComposeNode {
        guard scalar != nil else { return self }
        return with(.list([with(.scalar(Scalar(text: "CMD-SHELL", written: "CMD-SHELL"))), self]))
    }

    private func changing(_ key: String, _ change: (ComposeNode) -> ComposeNode) -> ComposeNode {
        guard var entries, let entry = entries[key] else { return self }
        entries[key]?.value = change(entry.value)
        return with(.mapping(entries))
    }

    private func changingValues(_ change: (ComposeNode) -> ComposeNode) -> ComposeNode {
        guard let entries else { return self }
        return with(.mapping(entries.mapValues { Entry(key: $0.key, written: $0.written, value: change($0.value)) }))
    }

    private func changingElements(_ change: (ComposeNode) -> ComposeNode) -> ComposeNode {
        list.map { with(.list($0.map(change))) } ?? self
    }
}

extension String {
    fileprivate var splitAtEquals: (name: String, value: String?) {
        let parts = split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    }
}
