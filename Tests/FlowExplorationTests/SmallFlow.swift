import FlowFiles
import Navigation

extension Flow {
    /// A small flow.
    /// - Parameters:
    ///   - screens: The screens, as the lines of a mapping.
    ///   - rules: The rules, as the lines of a list.
    ///   - rest: Further keys of the flow.
    static func small(
        _ platform: String = "ios", start: String = "a", screens: String, _ rules: String, rest: String = ""
    ) throws -> Flow {
        try Flow(
            yaml: """
                name: shop
                version: 1
                platform: \(platform)
                start: \(start)
                screens:
                \(screens)
                transitions:
                \(rules)
                \(rest)
                """, file: "shop.yaml")
    }
}
