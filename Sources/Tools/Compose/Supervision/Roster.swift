import Glibc

/// All that the parts of a supervisor know of each other at one moment.
struct Roster: Sendable {
    var stack: Stack
    var status: ProjectStatus
    /// What the present or last process of each instance was started from, by the instance's name.
    var definitions: [String: Service] = [:]
    /// The instances that a keeper looks after.
    var kept: Set<String> = []
    var stop: StopRequest = .none
    /// Why the supervisor gives up.
    var failure: ComposeError?

    subscript(instance: String) -> ServiceStatus? {
        get { status[instance] }
        set {
            let index = status.services.firstIndex { $0.name == instance }
            switch (index, newValue) {
            case (let index?, let status?): self.status.services[index] = status
            case (let index?, nil): status.services.remove(at: index)
            case (nil, let status?): self.status.services.append(status)
            case (nil, nil): break
            }
        }
    }

    mutating func change(_ instance: String, _ change: (inout ServiceStatus) -> Void) {
        guard let index = status.services.firstIndex(where: { $0.name == instance }) else { return }
        change(&status.services[index])
    }

    /// The definition that an instance would be started from now.
    func definition(of instance: ServiceStatus) -> Service? {
        stack.services.first { $0.name == instance.service }
    }

    func instances(of service: String) -> [ServiceStatus] {
        status.services.filter { $0.service == service && !$0.order.isRemoved }
    }

    // MARK: Ending

    /// Whether the process of an instance, if it has one, has to end.
    func isToEnd(_ instance: String) -> Bool {
        self[instance].map(isToEnd) ?? true
    }

    private func isToEnd(_ instance: ServiceStatus) -> Bool {
        stop != .none || !instance.order.isWanted || instance.round != instance.order.round
    }

    /// Whether it has to end and it is its turn: of those that have to end, dependents go first.
    func mayEnd(_ instance: String) -> Bool {
        if stop == .immediate { return true }
        guard isToEnd(instance) else { return false }
        let service = self[instance]?.service ?? ""
        let ending = Set(
            status.services.filter { $0.service != service && $0.isActive && isToEnd($0) }.map(\.service))
        guard !ending.isEmpty else { return true }
        // As they were started: what the stack says of them now is for their next processes.
        let graph = DependencyGraph(Array(definitions.values))
        return !ending.contains { graph.closure(of: [$0]).contains(service) }
    }

    /// Whether what is left of its grace is to be skipped.
    func isUrgent(_ instance: String) -> Bool {
        stop == .immediate || (isToEnd(instance) && self[instance]?.order.grace == .zero)
    }

    /// Whether all has come to its end by itself, and nothing waits to be started again by request.
    var isOver: Bool {
        status.services.allSatisfy { instance in
            let isDone = instance.isFinished && instance.round == instance.order.round && instance.order.isWanted
            return isDone || instance.order.round == 0
        }
    }

    mutating func fail(_ instance: String, with error: ComposeError) {
        change(instance) {
            $0.state = .failed
            ($0.message, $0.failure) = (error.message, error)
        }
        if status.phase == .starting { giveUp(because: error) }
    }

    mutating func giveUp(because error: ComposeError) {
        guard failure == nil, stop == .none else { return }
        failure = error
        stop = .orderly
    }

    // MARK: Starting

    /// Those that are wanted, and not as far yet.
    func lacking(_ milestone: Milestone) -> [String] {
        status.services.filter { $0.order.isWanted && !$0.hasReached(milestone) }.map(\.name)
    }

    /// For whoever watches the start.
    var awaited: String {
        let lacking = lacking(.ready)
        return lacking.isEmpty ? "there is nothing to start" : "waiting for \(lacking.joined(separator: ", "))"
    }

    enum Step {
        case wait
        case start
        case refuse(ComposeError)
        /// Nothing is left to do for the instance.
        case leave
    }

    /// What is to be done for an instance that has no process.
    func nextStep(of instance: String) -> Step {
        guard stop == .none, let status = self[instance], !status.order.isRemoved else { return .leave }
        guard status.order.isWanted, status.round != status.order.round, let service = definition(of: status) else {
            return .wait
        }
        guard !status.order.ignoresDependencies else { return .start }
        let prospects = service.dependencies.map { ($0, prospect(of: $0)) }
        if let lost = prospects.first(where: { $0.1 == .impossible && $0.0.isRequired })?.0 {
            return .refuse(lostDependency(lost, of: status))
        }
        return isPending(below: service) ? .wait : .start
    }

    /// Whether anything that a service depends on, directly or not, is still on its way to what others need it for.
    private func isPending(below service: Service) -> Bool {
        let needed = DependencyGraph(stack.services).closure(of: [service.name])
        return stack.services.contains { other in
            needed.contains(other.name) && other.dependencies.contains { prospect(of: $0) == .pending }
        }
    }

    /// How it stands with a dependency: all instances of the other service have to meet it.
    func prospect(of dependency: Dependency) -> ServiceStatus.Prospect {
        let instances = instances(of: dependency.service)
        guard !instances.isEmpty else {
            // Somebody scaled it to none, or it is no part of the stack.
            return stack.services.contains { $0.name == dependency.service } ? .met : .impossible
        }
        let prospects = instances.map { $0.prospect(of: dependency.condition) }
        return prospects.contains(.impossible) ? .impossible : prospects.contains(.pending) ? .pending : .met
    }

    private func lostDependency(_ dependency: Dependency, of instance: ServiceStatus) -> ComposeError {
        let isStopped = instances(of: dependency.service).contains { !$0.order.isWanted }
        let reason = isStopped ? "is stopped" : "will not reach \(dependency.condition.rawValue)"
        return ComposeError(
            code: "dependency-failed",
            message: "service '\(instance.name)' cannot start: '\(dependency.service)' \(reason)",
            recovery: isStopped ? "start it too, or use --no-deps" : nil)
    }
}

extension Roster {
    /// A project without services, supervised by this process.
    ///
    /// - Throws: ``ComposeError`` `no-proc`.
    init(empty project: Project) throws(ComposeError) {
        guard let identity = ProcessIdentity(of: getpid()) else {
            throw ComposeError(code: "no-proc", message: "/proc is not mounted", recovery: "supervising needs it")
        }
        let status = ProjectStatus(project: project.name, supervisor: identity, bus: project.busAddress)
        self.init(stack: Stack(directory: "/", services: []), status: status)
    }
}

/// What a supervisor has been asked for; it only ever grows.
enum StopRequest: Int, Sendable, Comparable {
    case none
    /// Dependents first, each with its grace.
    case orderly
    /// Without any more grace.
    case immediate

    static func < (a: StopRequest, b: StopRequest) -> Bool { a.rawValue < b.rawValue }
}
