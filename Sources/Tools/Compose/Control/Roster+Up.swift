extension Roster {
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
}

extension [Change] {
    /// Each instance once, with the last that was decided of it.
    fileprivate var settled: [Change] {
        enumerated().filter { index, change in
            !self[(index + 1)...].contains { $0.instance == change.instance }
        }.map(\.element)
    }
}
