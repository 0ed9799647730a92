"""What a checker of types has to notice in the code of somebody who uses sfumato."""

import sfumato as sf

release = sf.dp.mean([1.0], between=3, epsilon=None)  # two wrong arguments
chain = sf.vector(float) >> sf.no_such_name()  # and a name that there is not
