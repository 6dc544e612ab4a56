internal import Support

/// The line of a file that describes a rule or a link.
///
/// All locations are equal: flows that differ only in the lines of their rules are equal, and have equal hashes and
/// snapshots.
public struct RuleLocation: Hashable, Sendable {
    /// The file as the reader or the compiler names it: a path, or a `#fileID` such as `Shop/ShopFlow.swift`.
    public let file: String
    /// The number of the line, from 1.
    public let line: Int

    public init(file: String, line: Int) {
        self.file = file
        self.line = line
    }

    public static func == (left: RuleLocation, right: RuleLocation) -> Bool { true }

    public func hash(into hasher: inout Hasher) {}
}

extension RuleLocation: CustomStringConvertible {
    /// The last component of the file and the line: `ios.yaml:36`.
    public var description: String {
        "\(file.cut(atLast: "/")?.after ?? file[...]):\(line)"
    }
}

extension Flow {
    /// The locations of all rules and links, by the key with which a snapshot names them (``NavigationSnapshot/rule``).
    ///
    /// The location of a rule that a tree of steps declares is that of its step.
    public var ruleLocations: [String: RuleLocation] {
        var locations: [String: RuleLocation] = [:]
        func add(_ rules: [Transition], of child: String?) {
            for (index, rule) in rules.enumerated() {
                locations[Self.keyPath(ofRule: index, in: child)] = rule.location
            }
        }
        add(transitions, of: nil)
        for child in flows.values { add(child.transitions, of: child.name) }
        for (index, link) in links.enumerated() { locations[Self.keyPath(ofLink: index)] = link.location }
        return locations
    }
}
