/// What an app's screens are on one platform, and how messages lead from one to another.
///
/// A flow is a value, checked when it is made: all screens that it names exist, all templates can be read. It comes
/// from YAML (`init(yaml:file:)`) or from a result builder (`init(_:version:platform:start:content:)`).
public struct Flow: Hashable, Sendable {
    /// The flow's name.
    public let name: String
    /// The version that its authors gave it, raised when a snapshot of the former one may no longer fit.
    public let version: Int
    /// The platform that it is for, such as `ios`; views of that platform send it as their messages' attribute.
    public let platform: String
    /// The screen that a session begins with.
    public let start: String
    /// The screens, by name.
    public let screens: [String: Screen]
    /// The styles of presentation that the platform has, where the flow says so; nil leaves it to what is known of the
    /// platform.
    public let presentations: [PresentationStyle]?
    /// The actions that views may ask for, instead of sending messages that the rules answer.
    public let requests: [ActionName]
    /// The events and errors that no rule has to answer, sorted: their services tell them to others. A review against
    /// the app's contract passes these over.
    public let ignores: [String]
    /// The child flows, by name.
    public let flows: [String: Child]
    /// The rules, in the order in which they are tried: the first that matches a message is the one that applies.
    ///
    /// One rule per message keeps a step explicable: what happened is what one entry of the file says. Order as
    /// precedence is what route tables, firewalls and XState's guarded transitions have taught readers to expect.
    public let transitions: [Transition]
    /// The deep links, in the order in which they are tried.
    public let links: [Link]
    /// A hash of all of this, 16 hexadecimal digits; two flows that differ in anything have different ones.
    public private(set) var hash = ""

    init(
        name: String,
        version: Int,
        platform: String,
        start: String,
        screens: [Screen],
        presentations: [PresentationStyle]? = nil,
        requests: [ActionName] = [],
        ignores: [String] = [],
        flows: [Child] = [],
        transitions: [Transition],
        links: [Link] = []
    ) {
        self.name = name
        self.version = version
        self.platform = platform
        self.start = start
        self.screens = Dictionary(screens.map { ($0.name, $0) }) { first, _ in first }
        self.presentations = presentations.map { chosen in PresentationStyle.allCases.filter(chosen.contains) }
        self.requests = ActionName.allCases.filter(requests.contains)
        self.ignores = Set(ignores).sorted()
        self.flows = Dictionary(flows.map { ($0.name, $0) }) { first, _ in first }
        self.transitions = transitions
        self.links = links
        var hash = FNV1a()
        hash.combine(json.description)
        self.hash = hash.hexadecimal
    }

    /// The flow's name, version and hash, as snapshots carry them.
    public var identity: FlowIdentity {
        FlowIdentity(name: name, version: version, hash: hash)
    }

    /// The types of the messages that a machine of this flow must hear: those of its rules and deep links, the views'
    /// reports and their requests.
    public var messageTypes: Set<String> {
        Set(allTransitions.flatMap(\.messageTypes)).subtracting(Ending.allCases.map(\.rawValue))
            .union(ViewReport.allCases.map(\.rawValue)).union([Self.requestType])
            .union(links.isEmpty ? [] : [Machine.deepLinkReceived])
    }
}
