import Foundation
import OrderedCollections
import Projects
import Support

/// Converts the tree of a stack's files to a ``Stack``, and reports invalid values.
struct ComposeReader {
    let findings: ComposeFindings

    /// - Parameters:
    ///   - project: contains `x-ports` and `x-clients`, which are not part of the tree.
    ///   - directory: the stack's folder, as an absolute path.
    func stack(_ root: ComposeNode, of project: ComposeProject, directory: String) -> Stack {
        var stack = Stack(directory: directory, services: [])
        stack.ports = ports(project.ports)
        stack.clients = clients(project.clients)
        guard let entries = mapping(root, "the file") else { return stack }
        stack.name = entries["name"].flatMap { name($0.value) }
        stack.bus = entries["x-bus"].flatMap { scalar($0.value, "x-bus")?.text }
        stack.keys = entries["x-keys"].flatMap { path($0.value, "'x-keys'", expandsHome: true)?.absolute }
        if let services = entries["services"] {
            stack.services = self.services(services.value, of: stack)
        } else {
            report("'services' is missing", at: root.location, recovery: "add it, and list in it the processes to run")
        }
        return stack
    }

    func name(_ node: ComposeNode) -> String? {
        guard let name = scalar(node, "name") else { return nil }
        if ProjectPlace.isName(name.text) { return name.text }
        report("'\(name.written)' is not a project name", at: node.location, recovery: ProjectPlace.nameRule)
        return nil
    }

    /// The names of the ports, without duplicates: an included file may ask for the same port.
    func ports(_ nodes: [ComposeNode]) -> [String] {
        var names: [String] = []
        for node in nodes {
            guard let name = scalar(node, "an entry of 'x-ports'"), !names.contains(name.text) else { continue }
            if OfferedVariables.portVariable(name.text) == nil {
                let recovery = "use letters, digits, '-' and '_'"
                report("'\(name.written)' in 'x-ports' is not a valid name", at: node.location, recovery: recovery)
            }
            names.append(name.text)
        }
        return names
    }

    private func services(_ node: ComposeNode, of stack: Stack) -> [Service] {
        guard let entries = mapping(node, "'services'") else { return [] }
        if entries.isEmpty {
            report("'services' is empty", at: node.location, recovery: "list in it the processes to run")
        }
        let services = entries.compactMap { service($0.key, $0.value, of: stack) }
        checkDependencies(of: services, in: entries)
        checkInstances(of: services, in: entries)
        return services
    }

    /// Reports a service that has the same name as an instance of another service.
    private func checkInstances(of services: [Service], in entries: ComposeNode.Entries) {
        for service in services where service.replicas > 1 {
            for name in service.instances {
                guard let entry = entries[name] else { continue }
                report(
                    "'\(name)' is also the name of an instance of service '\(service.name)'", at: entry.key,
                    recovery: "rename one of the services")
            }
        }
    }

    func report(_ message: String, at location: ComposeLocation, recovery: String? = nil) {
        findings.report(message, at: location, recovery: recovery)
    }

    func mapping(_ node: ComposeNode, _ what: String) -> ComposeNode.Entries? {
        if let entries = node.entries { return entries }
        report("\(what) is not a mapping", at: node.location, recovery: "write 'key: value' lines")
        return nil
    }

    /// The elements of a list; empty for a null value. Any other value is reported.
    func list(_ node: ComposeNode, _ what: String) -> [ComposeNode] {
        if node.isNull { return [] }
        if node.list == nil { report("\(what) is not a list", at: node.location, recovery: "write [a, b]") }
        return node.list ?? []
    }

    func strings(_ node: ComposeNode, _ what: String) -> [String] {
        list(node, what).compactMap { scalar($0, "an entry of \(what)")?.text }
    }

    /// - Returns: the plain value of a node. Nil if the node is not a plain value, contains NUL or could not be
    ///   expanded. The mistake has then been reported.
    func scalar(_ node: ComposeNode, _ what: String) -> ComposeNode.Scalar? {
        guard let scalar = node.scalar else {
            report("\(what) is not a single value", at: node.location, recovery: "write a string or a number")
            return nil
        }
        guard !scalar.isUnknown else { return nil }
        guard !scalar.text.utf8.contains(0) else {
            report("\(what) contains a NUL character", at: node.location, recovery: "remove the character")
            return nil
        }
        return scalar
    }

    /// The path in a value. A relative path starts in the ``ComposeSource/directory`` of its file.
    ///
    /// - Parameter expandsHome: true if `~` stands for the user's home folder, as in docker compose. Else it is
    ///   reported.
    /// - Returns: nil if the value is invalid. The mistake has then been reported.
    func path(_ node: ComposeNode, _ what: String, expandsHome: Bool = false) -> ComposePath? {
        guard let scalar = scalar(node, what) else { return nil }
        guard scalar.text.utf8.first == UInt8(ascii: "~") else { return node.source.directory.resolving(scalar.text) }
        let rest = scalar.text == "~" ? "" : scalar.text.removing(prefix: "~/")
        guard expandsHome, let rest else {
            report("'~' is not expanded in \(what)", at: node.location, recovery: "write ${HOME}")
            return nil
        }
        let home = node.source.environment["HOME"] ?? NSHomeDirectory()
        let path = ComposePath.join(home, String(rest))
        return ComposePath(shown: path, absolute: path)
    }

    /// Reads the value of a key. Nil if the key is missing or null, or if the value is invalid; an invalid value is
    /// reported.
    ///
    /// - Parameter read: converts the string; returns nil if it is invalid.
    func value<Value>(
        _ key: String, in entries: ComposeNode.Entries, of owner: String, recovery: String, _ read: (String) -> Value?
    ) -> Value? {
        guard let node = entries[key]?.value, !node.isNull else { return nil }
        let what = "'\(key)' of \(owner)"
        guard let scalar = scalar(node, what) else { return nil }
        let value = read(scalar.text)
        if value == nil { report("\(what) cannot be '\(scalar.written)'", at: node.location, recovery: recovery) }
        return value
    }

    func duration(_ key: String, in entries: ComposeNode.Entries, of owner: String) -> Duration? {
        value(key, in: entries, of: owner, recovery: "write a duration like 10s, 1m30s or 500ms") {
            Duration(compose: $0)
        }
    }

    func bool(_ key: String, in entries: ComposeNode.Entries, of owner: String) -> Bool? {
        value(key, in: entries, of: owner, recovery: "write true or false") { text in
            switch text.lowercased() {
            case "true", "yes", "on", "y": true
            case "false", "no", "off", "n": false
            default: nil
            }
        }
    }

    func count(
        _ key: String, in entries: ComposeNode.Entries, of owner: String, from least: Int = 0, to most: Int
    ) -> Int? {
        value(key, in: entries, of: owner, recovery: "write a number from \(least) to \(most)") { text in
            Int(text).flatMap { (least...most).contains($0) ? $0 : nil }
        }
    }
}
