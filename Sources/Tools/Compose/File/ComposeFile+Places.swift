extension ComposeFile {
    /// Does something with the stack of the files.
    ///
    /// - Throws: what `body` throws; an error that lies in a service's entry with the file and line of that.
    package func placing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let error as ComposeError { throw placed(error) }
    }

    private func placed(_ error: ComposeError) -> ComposeError {
        // What is left out may be at fault, too; a command is always there.
        guard let key = error.key, let place = places[key] ?? places[ServiceKey(service: key.service, name: "command")]
        else { return error }
        var placed = error
        placed.message = "\(place.file):\(place.line): \(error.message)"
        return placed
    }
}
