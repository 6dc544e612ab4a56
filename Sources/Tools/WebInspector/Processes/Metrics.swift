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
        func processes(_ value: (String) -> String?) -> [Family.Sample] {
            running.compactMap { process in
                let instance = process.presence.instance
                return value(instance).map { ([("process", process.label), ("instance", instance)], $0) }
            }
        }
        var families = [
            Family(
                name: "segue_build_info", kind: .gauge, help: "The version of the gateway.",
                samples: [([("version", version)], "1")]),
            Family(
                name: "segue_bus_connected", kind: .gauge, help: "1 if the bus answers, 0 otherwise.",
                value: isConnected ? 1 : 0),
            Family(name: "segue_page_streams", kind: .gauge, help: "The streams of browsers.", value: streams),
            Family(
                name: "segue_messages_total", kind: .counter,
                help: "The messages since the gateway has started, by kind.",
                samples: figures.kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    ([("kind", $0.key.rawValue)], "\($0.value)")
                }),
            Family(
                name: "segue_messages_by_type_total", kind: .counter,
                help: "The messages since the gateway has started, by type.",
                samples: figures.types.sorted { $0.key.description < $1.key.description }.map {
                    ([("type", $0.key.description)], "\($0.value)")
                }),
            Family(
                name: "segue_errors_total", kind: .counter,
                help: "The errors since the gateway has started, by code.",
                samples: figures.errors.sorted { $0.key < $1.key }.map { ([("code", $0.key)], "\($0.value)") }),
            Family(
                name: "segue_process_up", kind: .gauge, help: "1 for each process on the bus.",
                samples: processes { _ in "1" }),
            Family(
                name: "segue_process_handled_total", kind: .counter,
                help: "The messages that the durable consumers of a process have handled since it started.",
                samples: processes { reports[$0].map { "\($0.handled)" } }),
            Family(
                name: "segue_process_failed_total", kind: .counter,
                help: "The messages that the durable consumers of a process have given up since it started.",
                samples: processes { reports[$0].map { "\($0.failed)" } }),
            Family(
                name: "segue_process_lag", kind: .gauge,
                help: "The messages for the slowest durable consumer after its position; 10000 means 10000 or more.",
                samples: processes { reports[$0].map { "\($0.lag)" } }),
        ]
        if let deadLetters {
            families.append(
                Family(
                    name: "segue_dead_letters", kind: .gauge, help: "The dead letters on the bus.", value: deadLetters))
        }
        return families.filter { !$0.samples.isEmpty }.map(\.text).joined()
    }

    private struct Family {
        enum Kind: String { case gauge, counter }

        typealias Sample = (labels: [(String, String)], value: String)

        let name: String
        let kind: Kind
        let help: String
        let samples: [Sample]

        init(name: String, kind: Kind, help: String, samples: [Sample]) {
            (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
        }

        /// A family with one sample without labels.
        init(name: String, kind: Kind, help: String, value: Int) {
            self.init(name: name, kind: kind, help: help, samples: [([], "\(value)")])
        }

        var text: String {
            var lines = ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
            for sample in samples {
                let labels = sample.labels.map { "\($0)=\(Escape.metricLabel($1))" }.joined(separator: ",")
                lines.append("\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)")
            }
            return lines.joined(separator: "\n") + "\n"
        }
    }
}
