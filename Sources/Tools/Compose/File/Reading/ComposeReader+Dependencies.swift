import OrderedCollections

extension ComposeReader {
    func dependencies(_ entries: ComposeNode.Entries, of place: String) -> [Dependency] {
        let what = "'depends_on' of \(place)"
        guard let node = entries["depends_on"]?.value, !node.isNull, let entries = mapping(node, what) else {
            return []
        }
        return entries.sorted { $0.key < $1.key }.compactMap { name, entry in
            let what = "'\(entry.written)' in \(what)"
            guard let options = entry.value.isNull ? [:] : mapping(entry.value, what) else { return nil }
            findings.check(options, against: .dependency, in: what)
            let all = Dependency.Condition.allCases.map(\.rawValue).joined(separator: ", ")
            return Dependency(
                on: name,
                condition: value("condition", in: options, of: what, hint: "use one of \(all)") {
                    Dependency.Condition(rawValue: $0)
                } ?? .started,
                isRequired: bool("required", in: options, of: what) ?? true,
                restarts: bool("restart", in: options, of: what) ?? false)
        }
    }

    /// Every dependency must exist, and none may lead back to where it started.
    func checkDependencies(of services: [Service], in entries: ComposeNode.Entries) {
        for (name, entry) in entries {
            let dependencies = entry.value.entries?["depends_on"]?.value.entries ?? [:]
            for (other, dependency) in dependencies where entries[other] == nil {
                let near = other.nearest(of: entries.keys).map { "did you mean '\($0)'?" }
                report("'\(name)' depends on unknown '\(dependency.written)'", at: dependency.key, hint: near)
            }
        }
        for cycle in DependencyGraph(services).cycles() {
            guard let entry = entries[cycle[0]] else { continue }
            report(DependencyGraph.message(cycle), at: entry.value.entries?["depends_on"]?.key ?? entry.key)
        }
    }
}
