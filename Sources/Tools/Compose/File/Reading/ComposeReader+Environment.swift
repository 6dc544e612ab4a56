import OrderedCollections

extension ComposeReader {
    /// The variables of `env_file`, over them those of `environment`. A key without a value is passed on from where
    /// the files' own variables come from; if it is not set there, the service does not have it either.
    func environment(_ entries: ComposeNode.Entries, of place: String) -> [String: String?] {
        var variables = entries["env_file"].map { files($0.value, of: place) } ?? [:]
        guard let node = entries["environment"]?.value, !node.isNull else { return variables }
        let what = "'environment' of \(place)"
        for (name, entry) in mapping(node, what) ?? [:] {
            if !Self.isValid(variable: name) {
                report("'\(entry.written)' in \(what) is not a variable's name", at: entry.key)
            } else if entry.value.isNull {
                variables[name] = .some(entry.value.source.environment[name])
            } else {
                variables[name] = .some(value(of: entry, what))
            }
        }
        return variables
    }

    private static func isValid(variable name: String) -> Bool {
        !name.isEmpty && !name.contains { $0 == "=" || $0 == "\0" }
    }

    private func value(of entry: ComposeNode.Entry, _ what: String) -> String? {
        guard let scalar = scalar(entry.value, "'\(entry.written)' in \(what)") else { return nil }
        if scalar.isBoolean {
            // Parsers differ in what they make of it: yes, true, True or 1.
            report(
                "'\(entry.written)' in \(what) is a YAML boolean, and a variable is text", at: entry.value.place,
                hint: "write it in quotes: \"\(scalar.written)\"")
        }
        return scalar.text
    }

    private func files(_ node: ComposeNode, of place: String) -> [String: String?] {
        var variables: [String: String?] = [:]
        for node in list(node, "'env_file' of \(place)") {
            guard let more = file(node, "'env_file' of \(place)", earlier: variables.compactMapValues(\.self)) else {
                continue
            }
            variables.merge(more) { _, last in last }
        }
        return variables
    }

    private func file(_ node: ComposeNode, _ what: String, earlier: [String: String]) -> [String: String?]? {
        guard let options = mapping(node, "an entry of \(what)") else { return nil }
        findings.check(options, against: .envFile, in: what)
        let isRequired = bool("required", in: options, of: what) ?? true
        let format = value("format", in: options, of: what, hint: "use raw, or leave it out") { text in
            text == "raw" ? EnvironmentFile.Format.raw : nil
        }
        guard let node = options["path"]?.value, let path = scalar(node, "'path' of \(what)") else {
            report("an entry of \(what) has no 'path'", at: node.place)
            return nil
        }
        let place = node.source.directory.resolving(path.text)
        do {
            let text = try ComposeText.read(place.absolute)
            return EnvironmentFile(name: place.shown, findings: findings).variables(
                in: text, format: format ?? .standard, environment: node.source.environment, earlier: earlier)
        } catch {
            if isRequired || error == .tooLong {
                report(
                    "cannot read the file '\(path.written)'", at: node.place,
                    hint: error.hint ?? "write 'required: false' if it may be missing")
            }
            return nil
        }
    }
}
