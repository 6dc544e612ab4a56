import Glibc

/// A request that another process sends to a supervisor.
///
/// A name in `services` is the name of a service, for all its instances, or the name of one instance. An empty array
/// means all services.
package enum ControlRequest: Sendable, Codable, Equatable {
    case up(UpRequest)
    /// Starts the services and their dependencies.
    case start(services: [String])
    /// Stops the services, dependents first. They stay stopped until a request starts them.
    case stop(services: [String], grace: Duration?)
    /// Restarts the services. If `followed` is true, also restarts the dependents that declare `restart: true`.
    case restart(services: [String], followed: Bool, grace: Duration?)
    /// Sets the number of instances of each service, by the service's name.
    case scale([String: Int])
    /// Stops the services and removes them from the project.
    case remove(services: [String], grace: Duration?)
    /// Sends a signal to the main process of each running instance.
    case kill(services: [String], signal: Int32)
}

/// A request to bring the project into the state that its compose files describe now.
package struct UpRequest: Sendable, Codable, Equatable {
    /// The rule that decides which running instances are restarted.
    package enum Recreation: String, Sendable, Codable {
        case never
        /// Restarts instances whose definition, executable or watched files have changed.
        case changed
        case always
    }

    package var stack: Stack
    /// The names of services in the same files whose profiles are not active. Their existing instances stay in the
    /// project.
    package var inactive: Set<String>
    package var selection: Selection
    package var recreation: Recreation
    /// The grace period of instances that must end; nil for the supervisor's ``SupervisorOptions/stopGrace``, or else
    /// the `stop_grace_period` of each service.
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

    /// The changes that this request would make in a project without instances.
    ///
    /// - Throws: ``ComposeError``.
    package func changesFromNothing(_ project: Project) throws(ComposeError) -> [Change] {
        var roster = try Roster(empty: project)
        return try roster.apply(.up(self))
    }
}

/// The services of a stack that a request selects.
package struct Selection: Sendable, Codable, Equatable {
    /// The names of the services; empty for all.
    package var services: [String]
    /// True to start the services' dependencies, too. If false, the services neither start their dependencies nor wait
    /// for them.
    package var includesDependencies: Bool

    package static let all = Selection([])

    package init(_ services: [String], includesDependencies: Bool = true) {
        self.services = services
        self.includesDependencies = includesDependencies
    }

    /// The names of the selected services, with their dependencies if ``includesDependencies`` is true.
    func names(in stack: Stack) -> Set<String> {
        if services.isEmpty { return Set(stack.services.map(\.name)) }
        return includesDependencies ? DependencyGraph(stack.services).closure(of: services) : Set(services)
    }
}

/// The effect of a request on one instance.
package struct Change: Sendable, Codable, Equatable {
    package enum Action: String, Sendable, Codable {
        case start, restart, stop, remove
        /// The requested state of the instance does not change.
        case keep
    }

    package let instance: String
    package let action: Action
    /// The instance's ``InstanceOrder/round`` after this change.
    package let round: Int
    /// The reason, as a phrase; nil if it follows from the request itself.
    package let reason: String?

    /// True if the change ends the instance.
    var isEnding: Bool { action == .stop || action == .remove }

    package init(instance: String, action: Action, round: Int, reason: String? = nil) {
        self.instance = instance
        self.action = action
        self.round = round
        self.reason = reason
    }
}

/// A call on the control socket: one JSON object, followed by the end of the stream.
struct ControlCall: Sendable, Codable {
    let request: ControlRequest
    /// True to return the changes that the request would make, without making them.
    let isRehearsal: Bool
    /// The time after which the request must not be carried out.
    var deadline: ContinuousClock.Instant?
}

/// A supervisor's answer to a call.
enum ControlReply: Sendable, Codable {
    case done([Change])
    case refused(ComposeError)
}
