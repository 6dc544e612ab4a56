import Glibc

/// The state of a supervisor, and the changes to it.
///
/// This is a value without side effects. A ``StatusBoard`` guards the roster of a supervisor with a lock.
struct Roster: Sendable {
    private(set) var stack = Stack(directory: "/", services: [])
    private(set) var status: ProjectStatus
    /// The definition with which the current or last process of each instance was started, by the instance's name.
    private var definitions: [String: Service] = [:]
    /// The files with which the current or last process of each instance was started, by the instance's name.
    private(set) var files: [String: StartFiles] = [:]
    /// The names of the instances that have an ``InstanceKeeper``.
    private var kept: Set<String> = []
    private(set) var stop: StopRequest = .none
    /// The reason why the supervisor stops the project without a request; nil if it does not.
    private var failure: ComposeError?
    private let rule: FailureRule
    /// True after ``complete(_:)`` has returned true for ``FailureRule/start``.
    private var hasStarted = false

    /// A project without services, supervised by this process.
    ///
    /// - Throws: ``ComposeError`` `no-proc`.
    init(empty project: Project, rule: FailureRule = FailureRule()) throws(ComposeError) {
        self.rule = rule
        guard let identity = ProcessIdentity(of: getpid()) else {
            throw ComposeError(
                code: "no-proc", message: "/proc is not mounted", recovery: "mount it; the supervisor needs it")
        }
        status = ProjectStatus(project: project.name, supervisor: identity, bus: project.ownBusAddress)
    }

    private(set) subscript(instance: String) -> InstanceStatus? {
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

    mutating func change(_ instance: String, _ change: (inout InstanceStatus) -> Void) {
        guard let index = status.services.firstIndex(where: { $0.name == instance }) else { return }
        change(&status.services[index])
    }

    /// The definition with which an instance would be started now; nil if the stack has no such service.
    private func definition(of instance: InstanceStatus) -> Service? {
        stack.services.first { $0.name == instance.service }
    }

    func instances(of service: String) -> [InstanceStatus] {
        status.services.filter { $0.service == service && !$0.order.isRemoved }
    }

    // MARK: The whole project

    /// The names of the wanted instances that have not reached a milestone.
    func lacking(_ milestone: Milestone) -> [String] {
        status.services.filter { $0.order.isWanted && !$0.hasReached(milestone) }.map(\.name)
    }

    /// A message about the progress of the start.
    var awaited: String {
        let lacking = lacking(.ready)
        return lacking.isEmpty ? "there is nothing to start" : "waiting for \(lacking.joined(separator: ", "))"
    }

    /// The phase of the project, derived from the states of its services.
    var phase: ProjectStatus.Phase {
        if stop != .none { return .stopping }
        // Once up, the project stays up, even while a service that has crashed is restarted.
        return status.phase == .up || lacking(.ready).isEmpty ? .up : .starting
    }

    /// Sets a phase that was derived earlier. If a stop has been requested meanwhile, the phase is `stopping` instead.
    mutating func enter(_ phase: ProjectStatus.Phase) {
        status.phase = stop == .none ? phase : .stopping
    }

    /// Records that the wanted instances have reached a milestone.
    ///
    /// - Returns: false if they have not, or if the project stops.
    mutating func complete(_ milestone: Milestone) -> Bool {
        guard stop == .none, lacking(milestone).isEmpty else { return false }
        if milestone == rule.start { hasStarted = true }
        return true
    }

    private var isStarting: Bool { status.phase == .starting && !hasStarted }

    /// Adds ports. A name that has a port keeps it.
    mutating func offer(_ ports: [String: Int]) {
        status.ports.merge(ports) { old, _ in old }
    }

    mutating func use(bus: String) { status.bus = bus }

    /// Requests that all services stop. A request cannot be withdrawn or weakened.
    mutating func request(_ stop: StopRequest) {
        self.stop = max(self.stop, stop)
    }

    /// Stops the project because of an error, unless it is already stopping.
    private mutating func giveUp(because error: ComposeError) {
        guard failure == nil, stop == .none else { return }
        failure = error
        stop = .orderly
    }

    /// Records that all processes have ended.
    ///
    /// - Returns: the reason why the supervisor stopped the project; nil if a request stopped it, or if all services
    ///   ended by themselves.
    mutating func finish() -> ComposeError? {
        status.phase = .stopped
        return failure
    }

    // MARK: Ending

    /// True if the process of an instance must end: the project stops, the instance is not wanted or does not exist, or
    /// a new start of it was requested.
    func isToEnd(_ instance: String) -> Bool {
        self[instance].map(isToEnd) ?? true
    }

    private func isToEnd(_ instance: InstanceStatus) -> Bool {
        stop != .none || !instance.order.isWanted || instance.round != instance.order.round
    }

    /// True if an instance must end and none of its dependents that must end is active. With an immediate stop, true
    /// for each instance.
    func mayEnd(_ instance: String) -> Bool {
        if stop == .immediate { return true }
        guard isToEnd(instance) else { return false }
        let service = self[instance]?.service ?? ""
        let ending = Set(
            status.services.filter { $0.service != service && $0.isActive && isToEnd($0) }.map(\.service))
        guard !ending.isEmpty else { return true }
        // The graph is built from the definitions with which the processes were started. The definitions in the stack
        // are for the next processes.
        let graph = DependencyGraph(Array(definitions.values))
        return !ending.contains { graph.closure(of: [$0]).contains(service) }
    }

    /// True if the rest of an instance's grace period is to be skipped.
    func isUrgent(_ instance: String) -> Bool {
        stop == .immediate || (isToEnd(instance) && self[instance]?.order.grace == .zero)
    }

    /// True if all instances that were started have ended by themselves. An instance that was started, and then stopped
    /// by a request, keeps the project running.
    var isOver: Bool {
        status.services.allSatisfy { instance in
            let isDone = instance.isFinished && instance.round == instance.order.round && instance.order.isWanted
            return isDone || instance.order.round == 0
        }
    }

    /// Requests a stop if all instances have ended by themselves.
    mutating func stopIfOver() {
        if isOver { request(.orderly) }
    }

    // MARK: Starting

    enum Step {
        case wait
        case start
        case refuse(ComposeError)
        /// The instance needs no ``InstanceKeeper`` any more.
        case leave
    }

    /// The next step for an instance that has no process.
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

    /// True if a direct or indirect dependency of a service is not met, but can still be met.
    private func isPending(below service: Service) -> Bool {
        let needed = DependencyGraph(stack.services).closure(of: [service.name])
        return stack.services.contains { other in
            needed.contains(other.name) && other.dependencies.contains { prospect(of: $0) == .pending }
        }
    }

    /// The prospect of a dependency. It is met if all instances of the other service meet its condition.
    func prospect(of dependency: Dependency) -> InstanceStatus.Prospect {
        let instances = instances(of: dependency.service)
        guard !instances.isEmpty else {
            // The service was scaled to 0, or is not part of the stack.
            return stack.services.contains { $0.name == dependency.service } ? .met : .impossible
        }
        let prospects = instances.map { $0.prospect(of: dependency.condition) }
        return prospects.contains(.impossible) ? .impossible : prospects.contains(.pending) ? .pending : .met
    }

    private func lostDependency(_ dependency: Dependency, of instance: InstanceStatus) -> ComposeError {
        let isStopped = instances(of: dependency.service).contains { !$0.order.isWanted }
        let reason = isStopped ? "is stopped" : "cannot reach \(dependency.condition.rawValue)"
        return ComposeError(
            code: "dependency-failed",
            message: "service '\(instance.name)' cannot start: '\(dependency.service)' \(reason)",
            recovery: isStopped
                ? "start '\(dependency.service)' too, or use --no-deps" : "see 'segue logs \(dependency.service)'")
    }

    // MARK: Reports of keepers

    var hasUnkept: Bool { status.services.contains { !kept.contains($0.name) } }

    /// Claims the instances that have no keeper yet, and returns their names. The caller must start a keeper for each.
    mutating func claimUnkept() -> [String] {
        let names = status.services.map(\.name).filter { !kept.contains($0) }
        kept.formUnion(names)
        return names
    }

    /// Begins the requested ``InstanceOrder/round`` of an instance, if it may still start.
    ///
    /// - Returns: the service to start; nil if the instance may not start.
    mutating func claimRound(of instance: String) -> Service? {
        guard case .start = nextStep(of: instance), let status = self[instance], let service = definition(of: status)
        else { return nil }
        definitions[instance] = service
        self[instance] = InstanceStatus(beginning: status, awaitsReadiness: stack.awaitsReadiness(of: service))
        return service
    }

    /// Records the files with which a process of an instance is started.
    mutating func record(_ files: StartFiles, of instance: String) {
        self.files[instance] = files
    }

    /// Marks an instance as starting.
    ///
    /// - Returns: false, without a change, if the instance must end.
    mutating func claimStart(of instance: String) -> Bool {
        guard !isToEnd(instance) else { return false }
        change(instance) { $0.state = .starting }
        return true
    }

    /// Records that an instance has ended. Its state is `exited`, or `restarting` if a new start has been requested.
    ///
    /// - Parameter error: the error with which the instance has ended by itself; nil if there is none.
    mutating func settle(_ instance: String, with error: ComposeError? = nil) {
        if let error, rule.aborts || (rule.needsSuccess && isStarting) { giveUp(because: error) }
        let isAskedFor = stop == .none && self[instance]?.order.isWanted == true && isToEnd(instance)
        change(instance) { $0.state = isAskedFor ? .restarting : .exited }
    }

    /// Marks an instance as failed. While the project starts, or with ``FailureRule/aborts``, this stops the whole
    /// project.
    mutating func fail(_ instance: String, with error: ComposeError) {
        change(instance) {
            $0.state = .failed
            ($0.message, $0.failure) = (error.message, error)
        }
        if isStarting || rule.aborts { giveUp(because: error) }
    }

    /// Marks an instance as failed if a required dependency can no longer be met.
    mutating func refuseRound(of instance: String) {
        guard case .refuse(let error) = nextStep(of: instance) else { return }
        change(instance) { $0.round = $0.order.round }
        fail(instance, with: error)
    }

    /// Deletes an instance that a request has removed from the project. It must have no process.
    ///
    /// - Returns: true if the instance's keeper is no longer needed.
    mutating func dismiss(_ instance: String) -> Bool {
        guard case .leave = nextStep(of: instance) else { return false }
        guard self[instance]?.order.isRemoved == true else { return true }
        self[instance] = nil
        definitions[instance] = nil
        files[instance] = nil
        kept.remove(instance)
        return true
    }

    // MARK: Requests

    /// Sets the orders of the instances as a request demands. It starts and ends no process.
    ///
    /// - Parameter edits: the changes of ``files`` since the start of each instance; see ``StartFiles/change``.
    /// - Returns: the change for each instance.
    /// - Throws: ``ComposeError``. The roster must then be discarded.
    mutating func apply(
        _ request: ControlRequest, edits: [String: String] = [:]
    ) throws(ComposeError) -> [Change] {
        guard stop == .none else {
            throw ComposeError(
                code: "stopping", message: "project '\(status.project)' is stopping",
                recovery: "try again when it has stopped")
        }
        switch request {
        case .up(let request):
            return try up(request, edits)
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

    private mutating func stop(_ instance: InstanceStatus, grace: Duration?) -> Change {
        // An instance that has ended by itself and will not be restarted needs no new order.
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
        try status.check(numbers.keys.sorted(), areIn: Set(stack.services.map(\.name)))
        for (name, number) in numbers.sorted(by: { $0.key < $1.key }) {
            guard let index = stack.services.firstIndex(where: { $0.name == name }) else { continue }
            stack.services[index].replicas = number
            changes += fit(stack.services[index])
        }
        try stack.validate()
        arrange()
        return changes
    }

    private mutating func remove(_ names: [String], grace: Duration?) throws(ComposeError) -> [Change] {
        let named = inOrder(try instances(named: names))
        let names = Set(named.map(\.name))
        // A service of which an instance remains can still be restarted and scaled.
        let services = Set(named.map(\.service))
            .filter { service in
                instances(of: service).allSatisfy { names.contains($0.name) || $0.order.isRemoved }
            }
        stack.services.removeAll { services.contains($0.name) }
        return named.reversed().map { instance in decide(.remove, instance.name) { $0.remove(grace: grace) } }
    }

    /// Restarts the services that depend on a restarted service with `restart: true`, directly or through other
    /// restarted services.
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
                // An instance that is still to be started needs no new order.
                for instance in instances(of: dependent.name)
                where instance.order.isWanted && !instance.isFinished && instance.round == instance.order.round {
                    let reason = "'\(service)' is restarted"
                    changes.append(decide(.restart, instance.name, reason: reason) { $0.start(grace: grace) })
                }
            }
        }
        return changes
    }

    private mutating func startUnlessUp(_ instance: InstanceStatus, ignoresDependencies: Bool = false) -> Change {
        let isOver = instance.isFinished && instance.round == instance.order.round
        if instance.order.isWanted && !isOver { return decide(.keep, instance.name) }
        return decide(.start, instance.name) { $0.start(ignoresDependencies: ignoresDependencies) }
    }

    /// Sorts instances by the dependencies of their services: each instance is after the instances on which it depends.
    private func inOrder(_ instances: [InstanceStatus]) -> [InstanceStatus] {
        let names = DependencyGraph(stack.services).inOrder
        return instances.sorted { a, b in
            (names.firstIndex(of: a.service) ?? 0, a.replica) < (names.firstIndex(of: b.service) ?? 0, b.replica)
        }
    }

    /// Replaces the current stack, and starts, restarts or removes instances so that they fit the new stack.
    private mutating func up(_ request: UpRequest, _ edits: [String: String]) throws(ComposeError) -> [Change] {
        try request.stack.validate()
        // Services of inactive profiles stay part of the project if they have instances.
        let left = stack.services.filter { request.inactive.contains($0.name) && !instances(of: $0.name).isEmpty }
        stack = request.stack.anchored
        stack.services += left
        let present = Set(stack.services.map(\.name))
        try status.check(request.selection.services, areIn: present)
        var changes = status.services.filter { !present.contains($0.service) && !$0.order.isRemoved }.map { orphan in
            let reason = "the compose files have no service '\(orphan.service)'"
            return decide(.remove, orphan.name, reason: reason) { $0.remove(grace: request.grace) }
        }
        let selected = request.selection.names(in: request.stack)
        let order = DependencyGraph(stack.services).inOrder
        for service in order.compactMap({ name in stack.services.first { $0.name == name } }) {
            if selected.contains(service.name) {
                changes += up(service, request: request, edits: edits)
            } else if instances(of: service.name).isEmpty {
                // Creates the instances without starting them.
                _ = fit(service, starts: false)
            }
        }
        let restarted = changes.filter { $0.action == .restart }.compactMap { self[$0.instance]?.service }
        changes += follow(Set(restarted), sparing: Set(restarted), grace: request.grace)
        arrange()
        return changes.settled
    }

    private mutating func up(_ service: Service, request: UpRequest, edits: [String: String]) -> [Change] {
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
                guard instance.order.isWanted,
                    let reason = reason(
                        toRestart: instance, service: service, recreation: request.recreation, edits: edits)
                else { return startUnlessUp(instance, ignoresDependencies: isAlone) }
                return decide(.restart, instance.name, reason: reason) {
                    $0.start(ignoresDependencies: isAlone, grace: request.grace)
                }
            }
    }

    private func reason(
        toRestart instance: InstanceStatus, service: Service, recreation: UpRequest.Recreation,
        edits: [String: String]
    ) -> String? {
        switch recreation {
        case .never: return nil
        case .always: return "a restart was requested"
        case .changed:
            if let edit = edits[instance.name] { return edit }
            guard let present = definitions[instance.name], present.definition != service.definition else { return nil }
            return "its definition has changed"
        }
    }

    /// The instances with these names of services or instances, without those that are being removed; all if `names` is
    /// empty.
    private func instances(named names: [String]) throws(ComposeError) -> [InstanceStatus] {
        try status.check(
            names, areIn: Set(status.services.flatMap { [$0.service, $0.name] }).union(stack.services.map(\.name)))
        // A service that was scaled to 0 has no instances, but its name is valid.
        return status.services.filter { instance in
            let matches = names.isEmpty || names.contains(instance.service) || names.contains(instance.name)
            return matches && !instance.order.isRemoved
        }
    }

    /// Adds or removes instances until a service has the number that it declares. All other instances keep their name
    /// and process.
    ///
    /// - Parameter starts: true to start the added instances.
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

    /// Sorts the instances by the stack's order of services, which is the order in the status.
    private mutating func arrange() {
        let places = Dictionary(stack.services.enumerated().map { ($1.name, $0) }) { first, _ in first }
        status.services.sort { a, b in
            (places[a.service] ?? .max, a.replica) < (places[b.service] ?? .max, b.replica)
        }
    }

    private mutating func add(_ replica: Int, of service: Service) -> String {
        // An instance that is being removed is used again.
        let leaving = status.services.first { $0.service == service.name && $0.replica == replica }
        if let leaving { return leaving.name }
        let name = service.instanceName(replica)
        self[name] = InstanceStatus(name: name, service: service.name, replica: replica)
        return name
    }

    /// Changes the order of an instance, and describes the change. Without `give` the order stays the same.
    private mutating func decide(
        _ action: Change.Action, _ instance: String, reason: String? = nil,
        _ give: (inout InstanceOrder) -> Void = { _ in }
    ) -> Change {
        change(instance) { give(&$0.order) }
        return Change(instance: instance, action: action, round: self[instance]?.order.round ?? 0, reason: reason)
    }
}

/// The rule that decides if the failure of one service stops the whole project.
package struct FailureRule: Sendable {
    /// The milestone that completes the start. Until then, a service that cannot be started or does not become ready
    /// stops the project.
    package var start: Milestone
    /// True if a service stops the project, too, when it ends during the start with another status than 0 and is not
    /// restarted.
    package var needsSuccess: Bool
    /// True to stop the project when a service has failed at any time and is not restarted.
    package var aborts: Bool

    package init(start: Milestone = .ready, needsSuccess: Bool = false, aborts: Bool = false) {
        self.start = start
        self.needsSuccess = needsSuccess
        self.aborts = aborts
    }
}

/// The stop that was requested of a supervisor. A later request can only make it stricter.
enum StopRequest: Int, Sendable, Comparable {
    case none
    /// Dependents stop first, each within its grace period.
    case orderly
    /// All processes are killed without waiting for the rest of their grace periods.
    case immediate

    static func < (a: StopRequest, b: StopRequest) -> Bool { a.rawValue < b.rawValue }
}

extension [Change] {
    /// Only the last change of each instance.
    fileprivate var settled: [Change] {
        enumerated().filter { index, change in
            !self[(index + 1)...].contains { $0.instance == change.instance }
        }.map(\.element)
    }
}
