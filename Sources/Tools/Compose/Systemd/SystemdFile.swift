/// A file that makes systemd start a stack, or a part of it.
package struct SystemdFile: Sendable, Equatable {
    package let name: String
    package let text: String
    /// It holds the values of a service's variables: nobody but its owner may read it.
    package let isSecret: Bool

    init(name: String, text: String, isSecret: Bool = false) {
        self.name = name
        self.text = text
        self.isSecret = isSecret
    }

    /// A unit file.
    init(unit name: String, _ sections: [(name: String, lines: [(String, String)])]) {
        let texts = sections.filter { !$0.lines.isEmpty }.map { section in
            "[\(section.name)]\n" + section.lines.map { "\($0)=\($1)\n" }.joined()
        }
        self.init(name: name, text: "# Made by 'segue export systemd'.\n\n" + texts.joined(separator: "\n"))
    }
}
