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
}
