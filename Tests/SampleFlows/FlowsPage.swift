/// The samples of `docs/flows.md`.
package struct FlowsPage {
    private let blocks: [String]

    /// - Parameter text: The text of the page.
    package init(text: String) {
        blocks = text.matches(of: #/(?s)```yaml\n(.*?)```/#).map { String($0.1) }
    }

    /// The first sample, a whole flow.
    package var shop: String { blocks.first ?? "" }

    /// The sample that tests the first one.
    package var scenario: String { blocks.first { $0.hasPrefix(Self.scenarioStart) } ?? "" }

    private static let scenarioStart = "# yaml-language-server: $schema=scenario"

    /// The screens that the samples name but do not declare.
    private static let screens = [
        "cart", "payment", "splash", "refused", "late", "receipt", "credentials", "code", "account", "goodbye",
        "confirmDelete",
        "filter", "home", "logIn", "notFound",
    ]

    /// All samples together: the first one, continued by the others.
    package var wholeShop: String {
        var heads: [Substring] = []
        var keys: [Substring] = []
        var parts: [Substring: [Substring]] = [:]
        for block in blocks where block != scenario {
            // A sample without keys has rules.
            var key: Substring = "transitions"
            for line in block.split(separator: "\n") where !line.hasPrefix("#") {
                if line.hasPrefix(" ") {
                    parts[key, default: []].append(line)
                } else if line.hasSuffix(":") {
                    key = line.dropLast()
                    if !keys.contains(key) { keys.append(key) }
                } else {
                    heads.append(line)
                }
            }
        }
        parts["screens", default: []] += Self.screens.map { "  \($0):" }
        return (heads + keys.flatMap { ["\($0):"] + (parts[$0] ?? []) }).joined(separator: "\n") + "\n"
    }
}
