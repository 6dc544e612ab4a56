/// Which services of a stack are asked for.
package struct Selection: Sendable, Codable, Equatable {
    /// All, when it is empty.
    package var services: [String]
    /// Whether what they depend on is started, too; if not, it is not even waited for.
    package var includesDependencies: Bool

    package static let all = Selection([])

    package init(_ services: [String], includesDependencies: Bool = true) {
        self.services = services
        self.includesDependencies = includesDependencies
    }

    /// The names of the services, in no order.
    func names(in stack: Stack) -> Set<String> {
        if services.isEmpty { return Set(stack.services.map(\.name)) }
        return includesDependencies ? DependencyGraph(stack.services).closure(of: services) : Set(services)
    }
}
