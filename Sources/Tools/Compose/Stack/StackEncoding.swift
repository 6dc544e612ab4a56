import Support
import Yams

/// Encodes the stack as one compose file. Reading that file gives the same stack, with absolute working directories.
extension Stack: Encodable {
    private enum CodingKeys: String, CodingKey {
        case name, services
        case ports = "x-ports"
        case bus = "x-bus"
        case keys = "x-keys"
        case clients = "x-clients"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(name, forKey: .name)
        try container.encodeIfPresent(bus.map(Escape.composeValue), forKey: .bus)
        try container.encodeIfPresent(keys.map(Escape.composeValue), forKey: .keys)
        if !ports.isEmpty { try container.encode(ports, forKey: .ports) }
        if !clients.isEmpty {
            try container.encode(clients.map { $0.map(Escape.composeValue) }, forKey: .clients)
        }
        var services = container.nestedContainer(keyedBy: ComposeName.self, forKey: .services)
        for service in self.services {
            try services.encode(service.anchored(in: directory), forKey: ComposeName(service.name))
        }
    }
}

/// A stack as the text of a compose file that does not depend on its folder or on environment variables.
extension Stack {
    package init(text: String) throws {
        self = try ComposeFile(text: text, path: "stack", directory: "/", environment: [:]).stack
    }

    package var text: String {
        get throws {
            // This encoder keeps the order of the services.
            let encoder = YAMLEncoder()
            // With these options, long commands are not broken over several lines, and letters outside ASCII are not
            // escaped.
            encoder.options = YAMLEncoder.Options(width: -1, allowUnicode: true)
            return try encoder.encode(self)
        }
    }

    /// The same stack with absolute working directories.
    var anchored: Stack {
        var stack = self
        stack.services = services.map { $0.anchored(in: directory) }
        return stack
    }
}

extension Service: Encodable {
    private enum CodingKeys: String, CodingKey {
        case profiles
        case command
        case workingDirectory = "working_dir"
        case environment
        case unset = "x-unset"
        case dependencies = "depends_on"
        case restart
        case deploy
        case healthcheck
        case watchdog = "x-watchdog"
        case stopSignal = "stop_signal"
        case stopGracePeriod = "stop_grace_period"
        case labels
        case develop
    }

    private enum DevelopKeys: CodingKey {
        case watch
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if !profiles.isEmpty { try container.encode(profiles, forKey: .profiles) }
        try container.encode(command.map(Escape.composeValue), forKey: .command)
        try container.encodeIfPresent(workingDirectory.map(Escape.composeValue), forKey: .workingDirectory)
        try encode(environment.compactMapValues(\.self), to: &container, forKey: .environment)
        // A null in `environment` would mean the value that the variable has where the file is read.
        let unset = environment.filter { $0.value == nil }.keys.sorted()
        if !unset.isEmpty { try container.encode(unset.map(Escape.composeValue), forKey: .unset) }
        if !dependencies.isEmpty {
            var entries = container.nestedContainer(keyedBy: ComposeName.self, forKey: .dependencies)
            for dependency in dependencies { try entries.encode(dependency, forKey: ComposeName(dependency.service)) }
        }
        try container.encode(restart.description, forKey: .restart)
        try container.encodeIfPresent(Deployment(self), forKey: .deploy)
        if readiness != .started { try container.encode(readiness, forKey: .healthcheck) }
        try container.encodeIfPresent(watchdog?.sumText, forKey: .watchdog)
        try container.encode(stopSignal.description, forKey: .stopSignal)
        try container.encode(stopGracePeriod.sumText, forKey: .stopGracePeriod)
        try encode(labels, to: &container, forKey: .labels)
        guard !watchedPaths.isEmpty else { return }
        var develop = container.nestedContainer(keyedBy: DevelopKeys.self, forKey: .develop)
        let entries = watchedPaths.map { ["action": "restart", "path": Escape.composeValue($0)] }
        try develop.encode(entries, forKey: .watch)
    }

    private func encode(
        _ pairs: [String: String], to container: inout KeyedEncodingContainer<CodingKeys>, forKey key: CodingKeys
    ) throws {
        guard !pairs.isEmpty else { return }
        let entries = pairs.sorted { $0.key < $1.key }.map { ($0.key, Escape.composeValue($0.value)) }
        try container.encode(ComposePairs(entries: entries), forKey: key)
    }
}

/// The part of a service that a compose file contains under `deploy`.
private struct Deployment: Encodable {
    private enum CodingKeys: String, CodingKey {
        case replicas
        case policy = "restart_policy"
    }

    private struct Policy: Encodable, Equatable {
        private enum CodingKeys: String, CodingKey {
            case delay, window
            case maximum = "x-max-delay"
            case limit = "max_attempts"
        }

        var delay: String?
        var maximum: String?
        var window: String?
        var limit: Int?
    }

    private let replicas: Int?
    private let policy: Policy?

    /// Nil if the service has only default values for `deploy`.
    init?(_ service: Service) {
        var policy = Policy()
        if let backoff = service.backoff {
            policy.delay = backoff.initial.sumText
            policy.maximum = backoff.maximum.sumText
            policy.window = backoff.resetAfter.sumText
        }
        // The limit of `on-failure:3` is part of `restart`.
        if case .always(let limit) = service.restart { policy.limit = limit }
        self.policy = policy == Policy() ? nil : policy
        replicas = service.replicas == 1 ? nil : service.replicas
        if self.policy == nil, replicas == nil { return nil }
    }
}

extension Dependency: Encodable {
    private enum CodingKeys: String, CodingKey {
        case condition
        case isRequired = "required"
        case restarts = "restart"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(condition.rawValue, forKey: .condition)
        if !isRequired { try container.encode(false, forKey: .isRequired) }
        if restarts { try container.encode(true, forKey: .restarts) }
    }
}

/// Encodes the readiness as `healthcheck` in a compose file.
extension Readiness: Encodable {
    private enum CodingKeys: String, CodingKey {
        case test, interval, timeout, retries, disable
        case startPeriod = "start_period"
        case startInterval = "start_interval"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .started:
            try container.encode(true, forKey: .disable)
        case .notify(let timeout):
            try container.encode(["NOTIFY"], forKey: .test)
            try container.encodeIfPresent(timeout?.sumText, forKey: .startPeriod)
        case .probe(let probe):
            try container.encode(probe.test.words.map(Escape.composeValue), forKey: .test)
            try container.encode(probe.interval.sumText, forKey: .interval)
            try container.encode(probe.timeout.sumText, forKey: .timeout)
            try container.encode(probe.retries, forKey: .retries)
            try container.encode(probe.startPeriod.sumText, forKey: .startPeriod)
            try container.encode(probe.startInterval.sumText, forKey: .startInterval)
        }
    }
}

/// Variables or labels, sorted by name.
private struct ComposePairs: YAMLEncodable {
    let entries: [(name: String, value: String)]

    /// The mapping is made at once, not entry by entry.
    func box() -> Node {
        Node(
            entries.map { name, value in
                (name.box(), Self.node(value))
            })
    }

    private static func node(_ value: String) -> Node {
        var node = value.box()
        if value.unicodeScalars.contains("\n") { node.scalar?.style = .any }
        return node
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ComposeName.self)
        for (name, value) in entries { try container.encode(value, forKey: ComposeName(name)) }
    }
}

extension HealthProbe.Test {
    /// The value of `test`.
    fileprivate var words: [String] {
        switch self {
        case .command(let words): ["CMD"] + words
        case .http(let url): ["HTTP", url]
        case .tcp(let address): ["TCP", address]
        }
    }
}

/// A key that the author of a compose file chooses, such as the name of a service.
private struct ComposeName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.init(stringValue)
    }

    init?(intValue: Int) {
        nil
    }
}
