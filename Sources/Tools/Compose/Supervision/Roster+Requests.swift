extension Roster {
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
    mutating func follow(_ restarted: Set<String>, sparing: Set<String>, grace: Duration?) -> [Change] {
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

    mutating func startUnlessUp(_ instance: ServiceStatus, ignoresDependencies: Bool = false) -> Change {
        let isOver = instance.isFinished && instance.round == instance.order.round
        if instance.order.isWanted && !isOver { return decide(.keep, instance.name) }
        return decide(.start, instance.name) { $0.start(ignoresDependencies: ignoresDependencies) }
    }

    /// Those that others depend on first, as far as the stack's own order does not say it.
    func inOrder(_ instances: [ServiceStatus]) -> [ServiceStatus] {
        let names = DependencyGraph(stack.services).inOrder
        return instances.sorted { a, b in
            (names.firstIndex(of: a.service) ?? 0, a.replica) < (names.firstIndex(of: b.service) ?? 0, b.replica)
        }
    }

    /// Lets a stack take the place of the present one: what is new starts, what has changed starts anew, what is no
    /// longer part of the files goes, and all else stays as it is.
    mutating func up(_ request: UpRequest) throws(ComposeError) -> [Change] {
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
    func instances(named names: [String]) throws(ComposeError) -> [ServiceStatus] {
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
    mutating func fit(_ service: Service, starts: Bool = true, grace: Duration? = nil) -> [Change] {
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
    mutating func arrange() {
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
    mutating func decide(
        _ action: Change.Action, _ instance: String, reason: String? = nil, _ give: (inout Order) -> Void = { _ in }
    ) -> Change {
        change(instance) { give(&$0.order) }
        return Change(instance: instance, action: action, round: self[instance]?.order.round ?? 0, reason: reason)
    }
}

extension [Change] {
    /// Each instance once, with the last that was decided of it.
    fileprivate var settled: [Change] {
        enumerated().filter { index, change in
            !self[(index + 1)...].contains { $0.instance == change.instance }
        }.map(\.element)
    }
}
