extension Roster {
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

extension Service {
    /// Only where there are several do they need numbers.
    fileprivate func instanceName(_ replica: Int) -> String {
        replicas == 1 && replica == 1 ? name : "\(name)-\(replica)"
    }

    /// What a process of it is started with and watched by: if this changes, a running one is out of date.
    var definition: Service {
        var service = self
        service.replicas = 1
        service.dependencies = []
        service.profiles = []
        return service
    }
}
