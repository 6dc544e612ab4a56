import Foundation

extension ComposeEnvironment {
    /// With the variables of `.env` in a folder, if there is such a file.
    func adding(usualFileIn folder: ComposePath, findings: ComposeFindings) -> ComposeEnvironment {
        let path = folder.resolving(".env")
        do {
            return adding([.init(path: path, text: try ComposeText.read(path.absolute))], findings: findings)
        } catch {
            if error == .tooLong {
                let place = ComposePlace(file: path.shown, line: 1)
                findings.report("cannot read the file", at: place, hint: error.hint)
            }
            return self
        }
    }

    /// With the variables of env files; the last file that sets one wins.
    func adding(_ files: [ComposeLoader.Text], findings: ComposeFindings) -> ComposeEnvironment {
        var variables: [String: (value: String, file: String)] = [:]
        for file in files {
            let read = EnvironmentFile(name: file.path.shown, findings: findings)
                .variables(in: file.text, environment: self, earlier: variables.mapValues(\.value))
            for (name, value) in read { variables[name] = value.map { ($0, file.path.shown) } ?? variables[name] }
        }
        return variables.reduce(into: self) { result, variable in
            guard self[variable.key] == nil else { return }
            result.set(variable.key, to: variable.value.value, from: variable.value.file)
        }
    }
}
