/// As `healthcheck` in a compose file says it.
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
            try container.encodeIfPresent(timeout?.composeText, forKey: .startPeriod)
        case .probe(let probe):
            try container.encode(["CMD"] + probe.command.map(\.composeEscaped), forKey: .test)
            try container.encode(probe.interval.composeText, forKey: .interval)
            try container.encode(probe.timeout.composeText, forKey: .timeout)
            try container.encode(probe.retries, forKey: .retries)
            try container.encode(probe.startPeriod.composeText, forKey: .startPeriod)
            try container.encode(probe.startInterval.composeText, forKey: .startInterval)
        }
    }
}
