import Glibc

/// What another process may ask of a supervisor.
///
/// Services are named as the stack does, or one of their instances by its own name.
package enum ControlRequest: Sendable, Codable, Equatable {
    case up(UpRequest)
    /// Also starts what they depend on.
    case start(services: [String])
    /// All, when none is named.
    case stop(services: [String], grace: Duration?)
    /// - followed: whether the dependents that say `restart: true` are restarted as well.
    case restart(services: [String], followed: Bool, grace: Duration?)
    /// How many instances of each service there shall be.
    case scale([String: Int])
    /// As a stop, after which they are no part of the project.
    case remove(services: [String], grace: Duration?)
    case kill(services: [String], signal: Int32)
}

/// How a stack is to become what its file says now.
package struct UpRequest: Sendable, Codable, Equatable {
    /// What happens to an instance that runs already.
    package enum Recreation: String, Sendable, Codable {
        case never
        /// It is restarted if it would be started differently now.
        case changed
        case always
    }

    package var stack: Stack
    /// Services of the same files that take no part, for want of a profile: what of them is there stays as it is.
    package var inactive: Set<String>
    package var selection: Selection
    package var recreation: Recreation
    /// What those are granted that have to end.
    package var grace: Duration?

    package init(
        stack: Stack, inactive: Set<String> = [], selection: Selection = .all, recreation: Recreation = .changed,
        grace: Duration? = nil
    ) {
        self.stack = stack
        self.inactive = inactive
        self.selection = selection
        self.recreation = recreation
        self.grace = grace
    }

    private enum CodingKeys: String, CodingKey {
        case stack, inactive, selection, recreation, grace
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            stack: try Stack(text: container.decode(String.self, forKey: .stack)),
            inactive: try container.decode(Set<String>.self, forKey: .inactive),
            selection: try container.decode(Selection.self, forKey: .selection),
            recreation: try container.decode(Recreation.self, forKey: .recreation),
            grace: try container.decodeIfPresent(Duration.self, forKey: .grace))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(stack.text, forKey: .stack)
        try container.encode(inactive, forKey: .inactive)
        try container.encode(selection, forKey: .selection)
        try container.encode(recreation, forKey: .recreation)
        try container.encodeIfPresent(grace, forKey: .grace)
    }

    /// What it would come to where nothing runs yet.
    ///
    /// - Throws: ``ComposeError``.
    package func changesFromNothing(_ project: Project) throws(ComposeError) -> [Change] {
        var roster = try Roster(empty: project)
        return try roster.apply(.up(self))
    }
}

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

/// What a request does to one instance.
package struct Change: Sendable, Codable, Equatable {
    package enum Action: String, Sendable, Codable {
        case start, restart, stop, remove
        /// It is as it was asked for.
        case keep
    }

    package let instance: String
    package let action: Action
    /// The ``InstanceOrder/round`` that it has been asked for by then.
    package let round: Int
    /// Why, where the request itself does not say it.
    package let reason: String?

    /// Whether it leaves the instance without a process.
    var isEnding: Bool { action == .stop || action == .remove }

    package init(instance: String, action: Action, round: Int, reason: String? = nil) {
        self.instance = instance
        self.action = action
        self.round = round
        self.reason = reason
    }
}

/// What goes over the control socket, as one JSON object that the end of the stream follows.
struct ControlCall: Sendable, Codable {
    let request: ControlRequest
    /// Whether to tell only what would be done.
    let isRehearsal: Bool
}

/// What a supervisor answers.
enum ControlReply: Sendable, Codable {
    case done([Change])
    case refused(ComposeError)
}
