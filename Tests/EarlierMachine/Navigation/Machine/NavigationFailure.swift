/// The reason why a rule, a request or a deep link could not be applied.
public struct NavigationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable code for programs, such as `navigation.nothingToPop`.
    public let code: String
    /// The problem in one line.
    public let message: String
    /// The remedy in one line. Nil if there is none.
    public let recovery: String?

    /// The message and the remedy.
    public var description: String { recovery.map { "\(message); \($0)" } ?? message }

    static func unreadable(_ reasons: [String]) -> Self {
        Self(
            code: "navigation.unreadableRequest",
            message: reasons.joined(separator: "; and "),
            recovery: nil
        )
    }

    /// The stored state of a session cannot be continued.
    /// - Parameter reason: one line that says what is wrong, and in which message.
    package static func unreadableState(_ reason: String) -> Self {
        Self(
            code: "navigation.unreadableState",
            message: "the stored state cannot be continued, so the session begins anew: \(reason)",
            recovery: nil
        )
    }

    static func notRequestable(_ name: Flow.ActionName, among names: [Flow.ActionName]) -> Self {
        let allowed =
            names.isEmpty ? "it allows no requests" : "it allows \(names.map(\.rawValue).joined(separator: ", "))"
        return Self(
            code: "navigation.notRequestable",
            message: "the flow does not let views request '\(name.rawValue)': \(allowed)",
            recovery: "list it under requests in the flow"
        )
    }

    static func unresolved(_ place: String) -> Self {
        Self(
            code: "navigation.unresolvedTemplate",
            message: "the template refers to '\(place)', which has no value",
            recovery: "provide the value, or correct the template in the flow"
        )
    }

    static func argumentsTooLarge(_ screen: String) -> Self {
        Self(
            code: "navigation.argumentsTooLarge",
            message: "the arguments of screen '\(screen)' exceed \(ScreenInstance.argumentLimit) bytes of JSON",
            recovery: "pass identifiers, and let the screen read the content from a document"
        )
    }

    static let stateTooLarge = Self(
        code: "navigation.stateTooLarge",
        message: "the arguments and texts of all screens would exceed \(NavigationState.contentLimit) bytes",
        recovery: "pass identifiers instead of content, or dismiss screens first"
    )

    static func unprintable(_ place: String) -> Self {
        Self(
            code: "navigation.unresolvedTemplate",
            message: "'\(place)' is not a string, a number or a boolean, so it cannot be part of a string",
            recovery: "refer to a string, a number or a boolean in the flow's template"
        )
    }

    static func invalidURL(_ url: String) -> Self {
        Self(
            code: "navigation.invalidURL",
            message: "'\(url)' is not an absolute URL",
            recovery: "write a URL that begins with a scheme, such as https:"
        )
    }

    static func nothingToPop(_ count: Int, of depth: Int) -> Self {
        Self(
            code: "navigation.nothingToPop",
            message: depth == 0
                ? "there is nothing to pop on the path"
                : "\(count) screens cannot be popped: at most \(depth) can",
            recovery: "add a condition on the path to the rule"
        )
    }

    static func notOnPath(_ screen: String) -> Self {
        Self(
            code: "navigation.notOnPath",
            message: "screen '\(screen)' is not on the front path or on a path beneath it",
            recovery: "add a condition on the path to the rule"
        )
    }

    /// True if the action could be possible in another state. False for a mistake in its templates or arguments.
    var dependsOnState: Bool {
        !["navigation.unresolvedTemplate", "navigation.argumentsTooLarge"].contains(code)
    }

    static let nothingToGoBackTo = Self(
        code: "navigation.nothingToGoBackTo",
        message: "nothing to go back to",
        recovery: "add a condition on the path to the rule"
    )

    static func cannotGoBack(_ instance: ScreenInstance) -> Self {
        Self(
            code: "navigation.cannotGoBack",
            message: "the user cannot go back from screen instance '\(instance.id)'",
            recovery: "use 'pop' or 'dismiss' in the rule"
        )
    }

    static func notPushed(_ instance: ScreenInstance) -> Self {
        Self(
            code: "navigation.notOnPath",
            message: "screen instance '\(instance.id)', which sent the message, was not pushed",
            recovery: "add a condition on 'sender' to the rule"
        )
    }

    static let noSender = Self(
        code: "navigation.noSender",
        message: "no open screen sent the message",
        recovery: "add a condition on 'sender' to the rule"
    )

    static func covered(_ instance: ScreenInstance) -> Self {
        Self(
            code: "navigation.covered",
            message: "another screen covers the screen instance '\(instance.id)', which sent the request",
            recovery: "send the request from the screen in front, or without an instance"
        )
    }

    static func notPresented(_ screen: String?) -> Self {
        Self(
            code: "navigation.notPresented",
            message: screen.map { "screen '\($0)' is not presented" } ?? "nothing is presented",
            recovery: "add a condition on 'presented' to the rule"
        )
    }

    static func holdsNoStack(_ presentation: Presentation) -> Self {
        Self(
            code: "navigation.holdsNoStack",
            message: "nothing can be pushed on '\(presentation.instance.screen)', presented as \(presentation.style)",
            recovery: "dismiss it first in the same rule"
        )
    }

    static func awaitsAnswer(_ presentation: Presentation) -> Self {
        Self(
            code: "navigation.awaitsAnswer",
            message: "nothing can be presented over '\(presentation.instance.screen)', presented as "
                + presentation.style.rawValue,
            recovery: "dismiss it first in the same rule, or add a condition on 'presented'"
        )
    }

    static func unknownScreen(_ name: String) -> Self {
        Self(
            code: "navigation.unknownScreen",
            message: "the flow has no screen '\(name)'",
            recovery: "declare it under screens"
        )
    }

    static func notOpen(_ screen: String) -> Self {
        Self(
            code: "navigation.notOpen",
            message: "screen '\(screen)' is not open",
            recovery: "add a condition on the screen to the rule, such as 'shown'"
        )
    }

    static func unknownFlow(_ name: String) -> Self {
        Self(
            code: "navigation.unknownFlow",
            message: "there is no child flow '\(name)'",
            recovery: "declare it under flows"
        )
    }

    static let noFlowRuns = Self(
        code: "navigation.noFlowRuns",
        message: "there is no run of a child flow to end",
        recovery: "add a condition on 'top' to the rule"
    )

    static let endlessFlows = Self(
        code: "navigation.endlessFlows",
        message: "child flows begin and end in an endless loop",
        recovery: "correct the rule on flow.abandoned that begins a child flow and ends it at once"
    )

    static func notSplit(column: String) -> Self {
        Self(
            code: "navigation.notSplit",
            message: "there is no column '\(column)': the root is not split",
            recovery: "set the root with container: split"
        )
    }

    static func emptyColumn(_ column: String) -> Self {
        Self(
            code: "navigation.emptyColumn",
            message: "column '\(column)' is empty",
            recovery: "show a screen in it first"
        )
    }

    static func noTab(_ tab: String) -> Self {
        Self(
            code: "navigation.noTab",
            message: "the root has no tab '\(tab)'",
            recovery: "add a condition on the root to the rule, or set a root with that tab"
        )
    }
}
