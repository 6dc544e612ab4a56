extension Service: Encodable {
    private enum CodingKeys: String, CodingKey {
        case profiles
        case command
        case workingDirectory = "working_dir"
        case environment
        case dependencies = "depends_on"
        case restart
        case deploy
        case healthcheck
        case watchdog = "x-watchdog"
        case stopSignal = "stop_signal"
        case stopGracePeriod = "stop_grace_period"
        case labels
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if !profiles.isEmpty { try container.encode(profiles, forKey: .profiles) }
        try container.encode(command.map(\.composeEscaped), forKey: .command)
        try container.encodeIfPresent(workingDirectory?.composeEscaped, forKey: .workingDirectory)
        try encode(environment, to: &container, forKey: .environment)
        if !dependencies.isEmpty {
            var entries = container.nestedContainer(keyedBy: ComposeName.self, forKey: .dependencies)
            for dependency in dependencies { try entries.encode(dependency, forKey: ComposeName(dependency.service)) }
        }
        try container.encode(restart.description, forKey: .restart)
        try container.encodeIfPresent(Deployment(self), forKey: .deploy)
        if readiness != .started { try container.encode(readiness, forKey: .healthcheck) }
        try container.encodeIfPresent(watchdog?.composeText, forKey: .watchdog)
        try container.encode(stopSignal.description, forKey: .stopSignal)
        try container.encode(stopGracePeriod.composeText, forKey: .stopGracePeriod)
        try encode(labels, to: &container, forKey: .labels)
    }

    private func encode(
        _ pairs: [String: String?], to container: inout KeyedEncodingContainer<CodingKeys>, forKey key: CodingKeys
    ) throws {
        guard !pairs.isEmpty else { return }
        var entries = container.nestedContainer(keyedBy: ComposeName.self, forKey: key)
        for (name, value) in pairs.sorted(by: { $0.key < $1.key }) {
            try entries.encode(value?.composeEscaped, forKey: ComposeName(name))
        }
    }
}
