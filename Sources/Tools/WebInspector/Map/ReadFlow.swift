internal import Contracts
internal import EventBus
internal import FlowFiles
internal import HTTPTypes
internal import Navigation
internal import Support
internal import WebPage

/// The flow of a document, as far as it can be read, and what a map needs of it.
struct ReadFlow: Sendable {
    /// The maximum size of a flow in bytes of YAML.
    static let limit = 256 << 10

    let flow: Result<Flow, RequestError>
    /// The kind of the message that each rule or link answers, by key. For a rule on several types, that of the first.
    let kinds: [String: String]
    /// The line of each rule or link in the source, by key.
    let lines: [String: Int]

    init(_ document: Document.Flow) {
        flow = Self.read(document)
        guard case .success(let flow) = flow else {
            (kinds, lines) = ([:], [:])
            return
        }
        var kinds: [String: String] = [:]
        let children = [(nil as String?, flow.transitions)] + flow.flows.map { ($0.key, $0.value.transitions) }
        for (child, rules) in children {
            for (index, rule) in rules.enumerated() {
                kinds[Flow.keyPath(ofRule: index, in: child)] =
                    rule.on.first?.cut(at: ".").map { String($0.before) }
            }
        }
        for index in flow.links.indices {
            kinds[Flow.keyPath(ofLink: index)] = DomainEvent.DeepLinkReceived.type.kind.rawValue
        }
        self.kinds = kinds
        lines = flow.ruleLocations.mapValues(\.line)
    }

    private static func read(_ document: Document.Flow) -> Result<Flow, RequestError> {
        guard document.source.utf8.count <= limit else {
            return .failure(.tooLargeFlow("the flow is larger than \(limit >> 10) KiB"))
        }
        do {
            return .success(try Flow(yaml: document.source, file: "\(document.platform).yaml"))
        } catch {
            let finding = error.findings.first?.description ?? "its source is empty"
            return .failure(
                RequestError(
                    status: .unprocessableContent, code: "flow.malformed",
                    message: "the flow cannot be drawn: \(finding)".shown(to: 300)))
        }
    }
}

extension RequestError {
    static func tooLargeFlow(_ message: String) -> Self {
        Self(status: .unprocessableContent, code: "flow.too-large", message: "the flow cannot be drawn: \(message)")
    }
}
