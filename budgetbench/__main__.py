"""`python -m budgetbench`"""

from budgetbench.cli import main

if __name__ == "__main__":
    main()
