import Glibc

/// All that the parts of a supervisor know of each other at one moment, and all that may change of it.
///
/// A pure value: requests, the keepers of instances and the supervisor itself call its methods, under the lock of a
/// ``StatusBoard``.
struct Roster: Sendable {
    private(set) var stack = Stack(directory: "/", services: [])
    private(set) var status: ProjectStatus
    /// What the present or last process of each instance was started from, by the instance's name.
    private var definitions: [String: Service] = [:]
    /// The instances that a keeper looks after.
    private var kept: Set<String> = []
    private(set) var stop: StopRequest = .none
    /// Why the supervisor gives up.
    private var failure: ComposeError?

    /// A project without services, supervised by this process.
    ///
    /// - Throws: ``ComposeError`` `no-proc`.
    init(empty project: Project) throws(ComposeError) {
        guard let identity = ProcessIdentity(of: getpid()) else {
            throw ComposeError(code: "no-proc", message: "/proc is not mounted", recovery: "supervising needs it")
        }
        status = ProjectStatus(project: project.name, supervisor: identity, bus: project.busAddress)
    }

    private(set) subscript(instance: String) -> ServiceStatus? {
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
    private func definition(of instance: ServiceStatus) -> Service? {
        stack.services.first { $0.name == instance.service }
    }

    func instances(of service: String) -> [ServiceStatus] {
        status.services.filter { $0.service == service && !$0.order.isRemoved }
    }

    // MARK: The whole project

    /// Those that are wanted, and not as far yet.
    func lacking(_ milestone: Milestone) -> [String] {
        status.services.filter { $0.order.isWanted && !$0.hasReached(milestone) }.map(\.name)
    }

    /// For whoever watches the start.
    var awaited: String {
        let lacking = lacking(.ready)
        return lacking.isEmpty ? "there is nothing to start" : "waiting for \(lacking.joined(separator: ", "))"
    }

    /// What the services' states make of the project's.
    var phase: ProjectStatus.Phase {
        if stop != .none { return .stopping }
        // Once up it stays so: a service that crashes and is restarted does not put the whole project back.
        return status.phase == .up || lacking(.ready).isEmpty ? .up : .starting
    }

    /// Takes over what an earlier look has found; a request to stop may have come since.
    mutating func enter(_ phase: ProjectStatus.Phase) {
        status.phase = stop == .none ? phase : .stopping
    }

    /// Ports that have been picked stay as they are: running services know them.
    mutating func offer(_ ports: [String: Int]) {
        status.ports.merge(ports) { old, _ in old }
    }

    /// Asks for an end of all; it is never taken back.
    mutating func request(_ stop: StopRequest) {
        self.stop = max(self.stop, stop)
    }

    mutating func giveUp(because error: ComposeError) {
        guard failure == nil, stop == .none else { return }
        failure = error
        stop = .orderly
    }

    /// All processes have ended.
    ///
    /// - Returns: why the supervisor gave up, if it did.
    mutating func finish() -> ComposeError? {
        status.phase = .stopped
        return failure
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

    /// Asks for the end of all where that has come by itself.
    mutating func stopIfOver() {
        if isOver { request(.orderly) }
    }

    // MARK: Starting

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

    // MARK: What keepers tell

    var hasUnkept: Bool { status.services.contains { !kept.contains($0.name) } }

    /// The instances that have no keeper yet; the caller gives them one.
    mutating func takeUnkept() -> [String] {
        let names = status.services.map(\.name).filter { !kept.contains($0) }
        kept.formUnion(names)
        return names
    }

    /// Begins the round that an instance was asked for, if it may still start.
    ///
    /// - Returns: what to start. From then on those it depends on wait for it when they stop.
    mutating func claimRound(of instance: String) -> Service? {
        guard case .start = nextStep(of: instance), let status = self[instance], let service = definition(of: status)
        else { return nil }
        definitions[instance] = service
        self[instance] = ServiceStatus(beginning: status, awaitsReadiness: stack.awaitsReadiness(of: service))
        return service
    }

    /// Marks an instance as starting once more within its round, unless it has been asked to end.
    mutating func claimStart(of instance: String) -> Bool {
        guard !isToEnd(instance) else { return false }
        change(instance) { $0.state = .starting }
        return true
    }

    /// The instance has ended, and stays so unless it has been asked for anew.
    mutating func settle(_ instance: String) {
        let isAskedFor = stop == .none && self[instance]?.order.isWanted == true && isToEnd(instance)
        change(instance) { $0.state = isAskedFor ? .restarting : .exited }
    }

    /// Marks an instance as failed; while the stack is still being brought up, that is the end of it all.
    mutating func fail(_ instance: String, with error: ComposeError) {
        change(instance) {
            $0.state = .failed
            ($0.message, $0.failure) = (error.message, error)
        }
        if status.phase == .starting { giveUp(because: error) }
    }

    /// Marks an instance as failed that cannot be started, unless something has changed meanwhile.
    mutating func refuseRound(of instance: String) {
        guard case .refuse(let error) = nextStep(of: instance) else { return }
        change(instance) { $0.round = $0.order.round }
        fail(instance, with: error)
    }

    /// Takes an instance off the board that was removed and has ended; on a stop of all it stays there for all to see.
    ///
    /// - Returns: whether its keeper may go.
    mutating func dismiss(_ instance: String) -> Bool {
        guard case .leave = nextStep(of: instance) else { return false }
        guard self[instance]?.order.isRemoved == true else { return true }
        self[instance] = nil
        definitions[instance] = nil
        kept.remove(instance)
        return true
    }

    // MARK: Requests

    /// Makes a request's wishes the instances' orders. What follows from them is up to their keepers.
    ///
    /// - Returns: what it comes to, instance by instance.
    /// - Throws: ``ComposeError``; the roster is then to be thrown away.
    mutating func apply(_ request: ControlRequest) throws(ComposeError) -> [Change] {
        guard stop == .none else {
            throw ComposeError(
                code: "stopping", message: "project '\(status.project)' is stopping",
                recovery: "try again when it is down")
        }
        switch request {
        case .up(let request):
            return try up(request)
        case .start(let names):
            return try start(names)
        case .stop(let names, let grace):
            return inOrder(try instances(named: names)).reversed().map { stop($0, grace: grace) }
        case .restart(let names, let followed, let grace):
            return try restart(names, followed: followed, grace: grace)
        case .scale(let numbers):
            return try scale(numbers)
        case .remove(let names, let grace):
            return try remove(names, grace: grace)
        case .kill(let names, _):
            return try instances(named: names).filter(\.isActive).map { decide(.keep, $0.name) }
        }
    }

    private mutating func start(_ names: [String]) throws(ComposeError) -> [Change] {
        let named = try instances(named: names)
        let services = DependencyGraph(stack.services).closure(of: named.map(\.service))
        let needed = status.services.filter { instance in
            guard !instance.order.isRemoved, services.contains(instance.service) else { return false }
            return named.contains { $0.name == instance.name || $0.service != instance.service }
        }
        return inOrder(needed).map { startUnlessUp($0) }
    }

    private mutating func stop(_ instance: ServiceStatus, grace: Duration?) -> Change {
        // One that has ended by itself, and stays so, need not be told.
        let isOver = instance.isFinished && instance.round == instance.order.round
        let isStopped = !instance.order.isWanted && !instance.isActive
        if isOver || isStopped { return decide(.keep, instance.name) }
        return decide(.stop, instance.name) { $0.stop(grace: grace) }
    }

    private mutating func restart(
        _ names: [String], followed: Bool, grace: Duration?
    ) throws(ComposeError) -> [Change] {
        let named = try instances(named: names)
        let services = Set(named.map(\.service))
        var changes = inOrder(named).map { instance in
            decide(.restart, instance.name) { $0.start(grace: grace) }
        }
        if followed { changes += follow(services, sparing: services, grace: grace) }
        return changes
    }

    private mutating func scale(_ numbers: [String: Int]) throws(ComposeError) -> [Change] {
        var changes: [Change] = []
        for (name, number) in numbers.sorted(by: { $0.key < $1.key }) {
            guard let index = stack.services.firstIndex(where: { $0.name == name }) else {
                _ = try instances(named: [name])
                continue
            }
            stack.services[index].replicas = number
            changes += fit(stack.services[index])
        }
        try stack.validate()
        arrange()
        return changes
    }

    private mutating func remove(_ names: [String], grace: Duration?) throws(ComposeError) -> [Change] {
        let named = inOrder(try instances(named: names))
        let services = Set(named.map(\.service))
        stack.services.removeAll { services.contains($0.name) }
        return named.reversed().map { instance in decide(.remove, instance.name) { $0.remove(grace: grace) } }
    }

    /// Restarts the dependents that asked for that, and theirs.
    private mutating func follow(_ restarted: Set<String>, sparing: Set<String>, grace: Duration?) -> [Change] {
        var changes: [Change] = []
        var reached = restarted
        var open = restarted
        while let service = open.popFirst() {
            for dependent in stack.services where !reached.contains(dependent.name) {
                guard dependent.dependencies.contains(where: { $0.service == service && $0.restarts }) else { continue }
                reached.insert(dependent.name)
                open.insert(dependent.name)
                guard !sparing.contains(dependent.name) else { continue }
                // One whose next round has not begun yet comes afterwards in any case.
                for instance in instances(of: dependent.name)
                where instance.order.isWanted && !instance.isFinished && instance.round == instance.order.round {
                    let reason = "'\(service)' is restarted"
                    changes.append(decide(.restart, instance.name, reason: reason) { $0.start(grace: grace) })
                }
            }
        }
        return changes
    }

    private mutating func startUnlessUp(_ instance: ServiceStatus, ignoresDependencies: Bool = false) -> Change {
        let isOver = instance.isFinished && instance.round == instance.order.round
        if instance.order.isWanted && !isOver { return decide(.keep, instance.name) }
        return decide(.start, instance.name) { $0.start(ignoresDependencies: ignoresDependencies) }
    }

    /// Those that others depend on first, as far as the stack's own order does not say it.
    private func inOrder(_ instances: [ServiceStatus]) -> [ServiceStatus] {
        let names = DependencyGraph(stack.services).inOrder
        return instances.sorted { a, b in
            (names.firstIndex(of: a.service) ?? 0, a.replica) < (names.firstIndex(of: b.service) ?? 0, b.replica)
        }
    }

    /// Lets a stack take the place of the present one: what is new starts, what has changed starts anew, what is no
    /// longer part of the files goes, and all else stays as it is.
    private mutating func up(_ request: UpRequest) throws(ComposeError) -> [Change] {
        try request.stack.validate()
        // What somebody has started of a profile stays part of the project, or nobody could start it again.
        let left = stack.services.filter { request.inactive.contains($0.name) && !instances(of: $0.name).isEmpty }
        stack = request.stack.anchored
        stack.services += left
        let present = Set(stack.services.map(\.name))
        try status.check(request.selection.services, areIn: present)
        var changes = status.services.filter { !present.contains($0.service) && !$0.order.isRemoved }.map { orphan in
            let reason = "the stack has no service '\(orphan.service)'"
            return decide(.remove, orphan.name, reason: reason) { $0.remove(grace: request.grace) }
        }
        let selected = request.selection.names(in: request.stack)
        let order = DependencyGraph(stack.services).inOrder
        for service in order.compactMap({ name in stack.services.first { $0.name == name } }) {
            if selected.contains(service.name) {
                changes += up(service, request)
            } else if instances(of: service.name).isEmpty {
                // So that it can be started later.
                _ = fit(service, starts: false)
            }
        }
        let restarted = changes.filter { $0.action == .restart }.compactMap { self[$0.instance]?.service }
        changes += follow(Set(restarted), sparing: Set(restarted), grace: request.grace)
        arrange()
        return changes.settled
    }

    private mutating func up(_ service: Service, _ request: UpRequest) -> [Change] {
        let earlier = instances(of: service.name)
        let fitting = fit(service, grace: request.grace)
        let isAlone = !request.selection.includesDependencies
        if isAlone {
            for added in fitting where added.action == .start {
                change(added.instance) { $0.order.ignoreDependencies() }
            }
        }
        return fitting
            + earlier.filter { self[$0.name]?.order.isRemoved == false }.map { instance in
                guard instance.order.isWanted, let reason = reason(toRestart: instance, service, request.recreation)
                else { return startUnlessUp(instance, ignoresDependencies: isAlone) }
                return decide(.restart, instance.name, reason: reason) {
                    $0.start(ignoresDependencies: isAlone, grace: request.grace)
                }
            }
    }

    private func reason(
        toRestart instance: ServiceStatus, _ service: Service, _ recreation: UpRequest.Recreation
    ) -> String? {
        switch recreation {
        case .never: return nil
        case .always: return "it was asked for"
        case .changed:
            guard let present = definitions[instance.name], present.definition != service.definition else { return nil }
            return "its definition has changed"
        }
    }

    /// As ``ProjectStatus/instances(named:of:)``, without those that are on their way out.
    private func instances(named names: [String]) throws(ComposeError) -> [ServiceStatus] {
        try status.check(
            names, areIn: Set(status.services.flatMap { [$0.service, $0.name] }).union(stack.services.map(\.name)))
        // A service that was scaled to none has no instance, and may be named all the same.
        return status.services.filter { instance in
            let isMeant = names.isEmpty || names.contains(instance.service) || names.contains(instance.name)
            return isMeant && !instance.order.isRemoved
        }
    }

    /// Adds and removes instances until a service has as many as it shall have. Those that stay keep name and process.
    ///
    /// - Parameter starts: whether those that are added are wanted at once.
    private mutating func fit(_ service: Service, starts: Bool = true, grace: Duration? = nil) -> [Change] {
        let present = instances(of: service.name).sorted { $0.replica < $1.replica }
        let surplus = present.dropFirst(service.replicas).map { surplus in
            decide(.remove, surplus.name) { $0.remove(grace: grace) }
        }
        let taken = Set(present.map(\.replica))
        let missing = (1...).lazy.filter { !taken.contains($0) }.prefix(max(0, service.replicas - present.count))
        let added = missing.map { replica in add(replica, of: service) }
        return surplus + (starts ? added.map { name in decide(.start, name) { $0.start() } } : [])
    }

    /// Puts the instances into the order that the stack has its services in, which is the one that people see.
    private mutating func arrange() {
        let places = Dictionary(stack.services.enumerated().map { ($1.name, $0) }) { first, _ in first }
        status.services.sort { a, b in
            (places[a.service] ?? .max, a.replica) < (places[b.service] ?? .max, b.replica)
        }
    }

    private mutating func add(_ replica: Int, of service: Service) -> String {
        // One that is on its way out comes back: it has a keeper, which must not get a rival.
        let leaving = status.services.first { $0.service == service.name && $0.replica == replica }
        if let leaving { return leaving.name }
        let name = service.instanceName(replica)
        self[name] = ServiceStatus(name: name, service: service.name, replica: replica)
        return name
    }

    /// Gives an instance another order, unless it is to be kept as it is.
    private mutating func decide(
        _ action: Change.Action, _ instance: String, reason: String? = nil,
        _ give: (inout InstanceOrder) -> Void = { _ in }
    ) -> Change {
        change(instance) { give(&$0.order) }
        return Change(instance: instance, action: action, round: self[instance]?.order.round ?? 0, reason: reason)
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

extension [Change] {
    /// Each instance once, with the last that was decided of it.
    fileprivate var settled: [Change] {
        enumerated().filter { index, change in
            !self[(index + 1)...].contains { $0.instance == change.instance }
        }.map(\.element)
    }
}
