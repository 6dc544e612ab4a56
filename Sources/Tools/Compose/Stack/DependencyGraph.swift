import Support

/// The dependencies between the services of a stack.
struct DependencyGraph {
    private let dependencies: [String: [String]]
    private let order: [String]

    init(_ services: [Service]) {
        order = services.map(\.name)
        let pairs = services.map { ($0.name, $0.dependencies.map(\.service)) }
        dependencies = Dictionary(pairs) { first, _ in first }
    }

    /// The first mistake in the dependencies: a dependency on a service that does not exist, or a cycle. Nil if there
    /// is no mistake.
    ///
    /// - Parameter known: the names of the services that exist.
    func problem(known: Set<String>) -> (message: String, recovery: String?)? {
        for service in order {
            guard let name = dependencies[service]?.first(where: { !known.contains($0) }) else { continue }
            return (
                "service '\(service)' depends on unknown service '\(name)'",
                Spelling.suggestion(for: name, among: known)
            )
        }
        return cycles().first.map { (Self.message($0), Self.cycleRecovery) }
    }

    /// The names of these services and of all services that they depend on, directly or indirectly.
    func closure(of names: [String]) -> Set<String> {
        var found = Set(names)
        var open = names
        while let name = open.popLast() {
            for next in dependencies[name] ?? [] where found.insert(next).inserted { open.append(next) }
        }
        return found
    }

    static let cycleRecovery = "remove one of these dependencies"

    static func message(_ cycle: [String]) -> String {
        "the dependencies of services form a cycle: \((cycle + [cycle[0]]).joined(separator: " → "))"
    }

    /// The names of all services, each after the services that it depends on.
    var inOrder: [String] {
        var placed: [String] = []
        for name in order { place(name, into: &placed) }
        return placed
    }

    private func place(_ name: String, into placed: inout [String]) {
        guard !placed.contains(name) else { return }
        for next in dependencies[name] ?? [] where order.contains(next) { place(next, into: &placed) }
        placed.append(name)
    }

    /// Cycles of dependencies, at least one if there is any. Each begins with the service that the search reaches
    /// first.
    func cycles() -> [[String]] {
        var finished: Set<String> = []
        var found: [[String]] = []
        for service in order {
            walk(service, path: [], finished: &finished, found: &found)
        }
        return found
    }

    private func walk(_ name: String, path: [String], finished: inout Set<String>, found: inout [[String]]) {
        if let start = path.firstIndex(of: name) {
            found.append(Array(path[start...]))
            return
        }
        guard !finished.contains(name) else { return }
        for next in dependencies[name] ?? [] {
            walk(next, path: path + [name], finished: &finished, found: &found)
        }
        finished.insert(name)
    }
}
