internal import Contracts
internal import EventBus
internal import Support

/// The figures of the bus in the text format of Prometheus. They contain no data of messages but the codes of
/// errors.
struct Metrics {
    static let type = "text/plain; version=0.0.4; charset=utf-8"

    let figures: ProcessFigures
    /// The metrics of the processes that have reported them in time, by instance. Others have no samples of them.
    let reports: [String: DomainEvent.MetricsReported]
    /// Nil if the bus does not answer.
    let deadLetters: Int?
    let streams: Int
    let isConnected: Bool
    let version: String

    var text: String {
        let running = figures.running
        func processes(_ value: (String) -> String?) -> [(labels: [(String, String)], value: String)] {
            running.compactMap { process in
                let instance = process.presence.instance
                return value(instance).map { ([("process", process.label), ("instance", instance)], $0) }
            }
        }
        var families = [
            Family("segue_build_info", "gauge", "The version of the gateway.", [([("version", version)], "1")]),
            Family("segue_bus_connected", "gauge", "1 if the bus answers, 0 otherwise.", isConnected ? 1 : 0),
            Family("segue_page_streams", "gauge", "The streams of browsers.", streams),
            Family(
                "segue_messages_total", "counter", "The messages since the gateway has started, by kind.",
                figures.kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    ([("kind", $0.key.rawValue)], "\($0.value)")
                }),
            Family(
                "segue_messages_by_type_total", "counter", "The messages since the gateway has started, by type.",
                figures.types.sorted { $0.key.description < $1.key.description }.map {
                    ([("type", $0.key.description)], "\($0.value)")
                }),
            Family(
                "segue_errors_total", "counter", "The errors since the gateway has started, by code.",
                figures.errors.sorted { $0.key < $1.key }.map { ([("code", $0.key)], "\($0.value)") }),
            Family(
                "segue_process_up", "gauge", "1 for each process on the bus.", processes { _ in "1" }),
            Family(
                "segue_process_handled_total", "counter",
                "The messages that the durable consumers of a process have handled since it started.",
                processes { reports[$0].map { "\($0.handled)" } }),
            Family(
                "segue_process_failed_total", "counter",
                "The messages that the durable consumers of a process have given up since it started.",
                processes { reports[$0].map { "\($0.failed)" } }),
            Family(
                "segue_process_lag", "gauge",
                "The messages for the slowest durable consumer after its position; 10000 means 10000 or more.",
                processes { reports[$0].map { "\($0.lag)" } }),
        ]
        if let deadLetters {
            families.append(Family("segue_dead_letters", "gauge", "The dead letters on the bus.", deadLetters))
        }
        return families.filter { !$0.samples.isEmpty }.map(\.text).joined()
    }

    private struct Family {
        let name: String
        let kind: String
        let help: String
        let samples: [(labels: [(String, String)], value: String)]

        init(_ name: String, _ kind: String, _ help: String, _ samples: [(labels: [(String, String)], value: String)]) {
            (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
        }

        init(_ name: String, _ kind: String, _ help: String, _ value: Int) {
            self.init(name, kind, help, [([], "\(value)")])
        }

        var text: String {
            var lines = ["# HELP \(name) \(help)", "# TYPE \(name) \(kind)"]
            for sample in samples {
                let labels = sample.labels.map { "\($0)=\(Escape.metricLabel($1))" }.joined(separator: ",")
                lines.append("\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)")
            }
            return lines.joined(separator: "\n") + "\n"
        }
    }
}
