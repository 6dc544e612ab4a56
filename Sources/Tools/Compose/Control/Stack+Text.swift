import Yams

/// A resolved stack as text: a compose file that depends neither on its place nor on anybody's environment.
extension Stack {
    package init(text: String) throws {
        self = try ComposeFile(text: text, path: "stack", directory: "/", environment: [:]).stack
    }

    package var text: String {
        get throws {
            // Which, unlike JSON's, keeps the services in their order.
            let encoder = YAMLEncoder()
            // A long command stays on its line, and letters stay letters.
            encoder.options = YAMLEncoder.Options(width: -1, allowUnicode: true)
            return try encoder.encode(self)
        }
    }

    /// The same stack, every working directory absolute.
    var anchored: Stack {
        var stack = self
        stack.services = services.map { service in
            let path = service.workingDirectory ?? directory
            var service = service
            service.workingDirectory = path.hasPrefix("/") ? path : "\(directory)/\(path)"
            return service
        }
        return stack
    }
}
