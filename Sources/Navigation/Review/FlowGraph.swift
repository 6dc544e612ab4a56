/// Which screens a flow has, and which messages lead from one to another: what can be known of it without running it.
///
/// Equal flows have equal graphs, in one order: screens by name, edges as their rules stand in the file, those of child
/// flows after the flow's own and by the name of the child flow, deep links at last.
public struct FlowGraph: Hashable, Sendable {
    /// The screens, by name.
    public let nodes: [Node]
    /// The ways between them.
    public let edges: [Edge]

    /// A screen.
    public struct Node: Hashable, Sendable {
        /// The screen's name.
        public let screen: String
        /// What a view may show as its title.
        public let title: String?
        /// Whether a session begins with it.
        public let isStart: Bool
        /// Whether something leads to it, from the screen that a session begins with.
        public let isReached: Bool
        /// How it can be shown.
        public let places: Set<Place>
    }

    /// What one action of a rule does to the screens, from one of the screens where the rule may apply.
    public struct Edge: Hashable, Sendable {
        /// The screen where the rule may apply: the one that it asks for, or that sends its message; nil is anywhere,
        /// of a child flow's rule anywhere in that flow.
        public let from: String?
        /// The screen that is shown; nil is whatever lies beneath.
        public let to: String?
        /// The type of the message.
        public let message: String
        /// What kind of message it is.
        public let kind: MessageKind
        /// How the screen is shown.
        public let place: Place
        /// What the rule does.
        public let action: Flow.ActionName
        /// The child flow of which a run begins.
        public let begins: String?
        /// The rule.
        public let rule: Rule
    }

    /// A rule or deep link of a flow, and what it waited for before it did something.
    public struct Rule: Hashable, Sendable {
        /// The child flow that it is a rule of; nil for the flow itself.
        public let flow: String?
        /// Whether it is one of the flow's deep links, which lead on like rules.
        public var isLink = false
        /// Which of the flow's rules, or links, it is, from 0.
        public let index: Int
        /// What its guard was answered; nil for a rule without one.
        public let answer: Answer?
    }

    /// What comes of a guard.
    public enum Answer: String, Hashable, Sendable, CaseIterable {
        /// The answer that lets the rule's actions happen.
        case accepted
        /// The answer that does not.
        case rejected
        /// No answer within the deadline.
        case expired
    }

    /// What kind of message a rule answers.
    public enum MessageKind: String, Hashable, Sendable, CaseIterable {
        /// What somebody wants.
        case command
        /// What has happened.
        case event
        /// What has failed.
        case error
        /// What is so.
        case document
        /// The end of a child flow, which never leaves the machine.
        case flow
    }

    /// How a screen is shown.
    public enum Place: Hashable, Sendable {
        /// As the root.
        case root
        /// As the first screen of a tab.
        case tab(String)
        /// In a column beside the root.
        case column(String)
        /// On a path.
        case path
        /// Over the others.
        case presented(PresentationStyle)
        /// As it stood before: something above it went.
        case before
    }
}

extension FlowGraph.Rule {
    /// Where the rule is in the flow, such as `transitions[2]` or `links[0]`.
    public var place: String {
        isLink ? "links[\(index)]" : "\(flow.map { "flows.\($0)." } ?? "")transitions[\(index)]"
    }
}

extension Flow {
    /// Which screens the flow has, and which messages lead from one to another.
    public var graph: FlowGraph { FlowGraph(of: self) }
}
