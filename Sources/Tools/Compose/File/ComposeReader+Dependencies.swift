import Yams

extension ComposeReader {
    /// A list of names, or a mapping from names to `condition: …`.
    mutating func dependencies(_ node: Node, of place: String) -> [Dependency] {
        let what = "'depends_on' of \(place)"
        if node.sequence != nil {
            return (strings(node, what) ?? []).map { Dependency(on: $0) }
        }
        guard let entries = mapping(node, what) else { return [] }
        return entries.sorted { $0.key < $1.key }.compactMap { name, entry in
            guard let options = mapping(entry.value, "'\(name)' in \(what)") else { return nil }
            check(options, against: .dependency, in: "'\(name)' in \(what)")
            guard let node = options["condition"]?.value, let text = string(node, "'condition' in \(what)") else {
                return Dependency(on: name)
            }
            guard let condition = Dependency.Condition(rawValue: text) else {
                let all = Dependency.Condition.allCases.map(\.rawValue).joined(separator: ", ")
                report("'condition' in \(what) is '\(text)'", at: node, hint: "use one of \(all)")
                return nil
            }
            return Dependency(on: name, condition: condition)
        }
    }

    /// Every dependency must exist, and none may lead back to where it started.
    mutating func checkDependencies(of services: [Service], in entries: Entries) {
        for problem in DependencyGraph(services).problems(known: Set(entries.keys)) {
            guard let entry = entries[problem.service] else { continue }
            let node = entry.value.mapping?["depends_on"] ?? entry.key
            report(problem.message, at: node, hint: problem.hint)
        }
    }
}
