train --help
