extension Service: Encodable {
    private enum CodingKeys: String, CodingKey {
        case command
        case workingDirectory = "working_dir"
        case environment
        case dependencies = "depends_on"
        case restart
        case healthcheck
        case stopSignal = "stop_signal"
        case stopGracePeriod = "stop_grace_period"
        case labels
    }

    private enum HealthcheckKeys: String, CodingKey {
        case test
        case startPeriod = "start_period"
    }

    private enum DependencyKeys: String, CodingKey {
        case condition
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(command.map(\.composeEscaped), forKey: .command)
        try container.encodeIfPresent(workingDirectory?.composeEscaped, forKey: .workingDirectory)
        try encode(environment, to: &container, forKey: .environment)
        if !dependencies.isEmpty {
            var entries = container.nestedContainer(keyedBy: ComposeName.self, forKey: .dependencies)
            for dependency in dependencies {
                let name = ComposeName(dependency.service)
                var entry = entries.nestedContainer(keyedBy: DependencyKeys.self, forKey: name)
                try entry.encode(dependency.condition.rawValue, forKey: .condition)
            }
        }
        try container.encode(restart.description, forKey: .restart)
        if case .notify(let timeout) = readiness {
            var healthcheck = container.nestedContainer(keyedBy: HealthcheckKeys.self, forKey: .healthcheck)
            try healthcheck.encode(["NOTIFY"], forKey: .test)
            try healthcheck.encodeIfPresent(timeout?.composeText, forKey: .startPeriod)
        }
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

extension String {
    /// What a compose file says for this text: a dollar sign there would begin a variable.
    var composeEscaped: String { replacing("$", with: "$$") }
}
